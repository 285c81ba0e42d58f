"""The blocking desk has every call of the desk, with the same parameters."""

import asyncio
import inspect
from pathlib import Path

import pytest

import refdesk
from refdesk.blocking import BlockingConversations, BlockingDesk
from refdesk.desk import Desk
from refdesk.desk.conversing import ConversationVerbs
from refdesk.errors import InputError, NotFound
from refdesk.testing import HashingEmbedder

PUBLIC = [
    name for name, thing in vars(Desk).items() if inspect.isfunction(thing) and not name.startswith("_")
]


@pytest.mark.parametrize("name", [name for name in PUBLIC if name not in ("stream", "aclose")])
def test_same_parameters_and_docstring(name: str) -> None:
    ours, theirs = getattr(BlockingDesk, name), getattr(Desk, name)
    assert inspect.signature(ours) == inspect.signature(theirs)
    assert ours.__doc__ == theirs.__doc__


VERBS = [name for name in vars(ConversationVerbs) if not name.startswith("_") and name != "kept"]


@pytest.mark.parametrize("name", VERBS)
def test_the_same_for_conversations(name: str) -> None:
    ours, theirs = getattr(BlockingConversations, name), getattr(ConversationVerbs, name)
    assert inspect.signature(ours) == inspect.signature(theirs)
    assert ours.__doc__ == theirs.__doc__


def test_nothing_is_missing() -> None:
    assert {name for name in PUBLIC if name != "aclose"} <= set(dir(BlockingDesk))


def test_it_works_with_and_without_a_running_loop(tmp_path: Path) -> None:
    with refdesk.open(tmp_path / "library", embedder=HashingEmbedder()) as desk:
        desk.ingest_text("Employees get 30 days of leave.", source_id="leave")

        async def notebook() -> str:
            return desk.ask("How many days of leave do employees get?").text

        assert "30 days" in asyncio.run(notebook())


def test_a_stream_can_be_left_early_and_errors_are_plain(tmp_path: Path) -> None:
    with refdesk.open(tmp_path / "library", embedder=HashingEmbedder()) as desk:
        desk.ingest_text("Employees get 30 days of leave.", source_id="leave")
        for event in desk.stream("How many days of leave do employees get?"):
            if isinstance(event, refdesk.Token):
                break
        with pytest.raises(NotFound):
            list(desk.stream("What?", collections="nowhere"))
        assert desk.documents()


def test_a_closed_desk_says_so(tmp_path: Path) -> None:
    desk = refdesk.open(tmp_path / "library", embedder=HashingEmbedder())
    desk.close()
    with pytest.raises(InputError, match="closed"):
        desk.collections()
    with pytest.raises(InputError, match="closed"):
        list(desk.stream("What?"))
