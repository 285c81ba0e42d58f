"""Which runs name or quote documents."""

from pathlib import Path
from typing import Any

import pytest
from tests.evaluation.runs.test_runs import FULL, begun, header, outcome

from refdesk.evaluation.datasets.cases import Gold, Need
from refdesk.evaluation.runs.outcomes import AnswerOutcome, Channel
from refdesk.evaluation.runs.quoting import runs_with
from refdesk.evaluation.runs.store import RunStore


@pytest.fixture
def store(tmp_path: Path) -> RunStore:
    return RunStore(tmp_path / "runs")


def needed(name: str) -> dict[str, Any]:
    return {"needs": (Need(alternatives=(Gold(document="other"), Gold(document=name))),)}


def found(name: str) -> dict[str, Any]:
    return {"channels": (Channel(name="keyword", documents=("other", name), seconds=0.1),)}


def quoted(name: str) -> dict[str, Any]:
    answer = AnswerOutcome(text="x", citations=({"marker": 1}, {"source_id": name, "quote": "thirty"}))
    return {"answer": answer}


@pytest.mark.parametrize("way", [needed, found, quoted])
def test_wherever_a_document_stands(store: RunStore, way: Any) -> None:
    begun(store, outcome("a"), outcome("b", **way("leave.md"))).finish("done")
    begun(store, outcome("a", **way("travel.md")), name="two").finish("crashed")
    assert runs_with(store, "default", ["gone.md", "leave.md"]) == ("one",)
    assert runs_with(store, "default", {"leave.md", "travel.md"}) == ("one", "two")
    assert runs_with(store, "default", ["leave"]) == ()
    assert runs_with(store, "default", []) == ()


def test_runs_on_other_collections_are_not_meant(store: RunStore) -> None:
    named = header(options={"collection": "pumps"})
    with store.begin(named) as run:
        run.add(FULL)
    assert runs_with(store, "pumps", ["d"]) == ("one",)
    assert runs_with(store, "default", ["d"]) == ()


def test_there_need_not_be_any(store: RunStore) -> None:
    assert runs_with(store, "default", ["d"]) == ()
