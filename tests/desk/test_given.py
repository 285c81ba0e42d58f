"""What cannot be meant is refused in words, by every verb, and never by an error of Python's."""

import inspect
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from functools import wraps
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import refdesk
from refdesk.errors import InputError, RefdeskError
from refdesk.steps import Search

pytestmark = pytest.mark.anyio

QUESTION = "How many days of leave do employees get?"
JUNK: tuple[Any, ...] = (
    5,
    True,
    1.5,
    float("nan"),
    -1,
    10**30,
    b"x",
    "x\0",
    "\ud800",
    " ",
    None,
    object(),
    [5],
    [["a"]],
    [None],
    (),
    {5: 5},
)


def streaming(desk: refdesk.Desk) -> Callable[..., Awaitable[None]]:
    """Return a call that hears a stream to its end."""

    @wraps(desk.stream)
    async def streamed(*given: Any, **options: Any) -> None:
        async for _ in desk.stream(*given, **options):
            pass

    return streamed


async def verbs(desk: refdesk.Desk) -> Mapping[str, tuple[Callable[..., Any], list[Any], dict[str, Any]]]:
    """Return calls that work, each with its arguments."""
    context, answer = await desk.start(QUESTION), await desk.ask(QUESTION)
    talk = desk.conversations
    return {
        "search": (desk.search, [QUESTION], {}),
        "ask": (desk.ask, [QUESTION], {}),
        "run": (desk.run, ["simple", QUESTION], {}),
        "stream": (streaming(desk), [QUESTION], {}),
        "step": (desk.step, [Search(), context], {}),
        "start": (desk.start, [QUESTION], {}),
        "ground": (desk.ground, [context], {}),
        "recheck": (desk.recheck, [answer], {}),
        "ingest_text": (desk.ingest_text, ["A text."], {"source_id": "text"}),
        "reembed": (desk.reembed, ["default"], {}),
        "documents": (desk.documents, [], {}),
        "document": (desk.document, ["text"], {}),
        "delete": (desk.delete, ["nothing"], {}),
        "collections": (desk.collections, [], {}),
        "collection": (desk.collection, ["default"], {}),
        "create_collection": (desk.create_collection, ["other"], {}),
        "delete_collection": (desk.delete_collection, ["nothing"], {}),
        "purge_collection": (desk.purge_collection, ["nothing"], {}),
        "failures": (desk.failures, ["default"], {}),
        "vector_sets": (desk.vector_sets, ["default"], {}),
        "list": (talk.list, [], {}),
        "show": (talk.show, ["c"], {}),
        "forget": (talk.delete, ["nothing"], {}),
        "purge": (talk.purge, [], {"user": "nobody"}),
        "count": (talk.count, [], {}),
    }


NAMES = (
    *("search", "ask", "run", "stream", "step", "start", "ground", "recheck", "ingest_text", "reembed"),
    *("documents", "document", "delete", "collections", "collection", "create_collection"),
    *("delete_collection", "purge_collection", "failures", "vector_sets"),
    *("list", "show", "forget", "purge", "count"),
)


@pytest.mark.parametrize("name", NAMES)
async def test_nothing_but_our_own_errors_comes_of_what_is_given(desk: refdesk.Desk, name: str) -> None:
    verb, positional, options = (await verbs(desk))[name]
    named = [one.name for one in inspect.signature(verb).parameters.values() if one.kind is one.KEYWORD_ONLY]
    for junk in JUNK:
        for at in range(len(positional)):
            with suppress(RefdeskError):
                await verb(*positional[:at], junk, *positional[at + 1 :], **options)
        for one in named:
            with suppress(RefdeskError):
                await verb(*positional, **{**options, one: junk})


@pytest.mark.parametrize(
    ("name", "options", "said"),
    [
        ("search", {"collections": 5}, "The collections are 5; a name, or several in a list, are allowed."),
        ("ask", {"collections": [5]}, r"The collections are \[5\]"),
        ("run", {"collections": {"default": 1}}, "The collections are {'default': 1}"),
        ("stream", {"collections": 5}, "The collections are 5"),
        ("recheck", {"collections": b"x"}, "The collections are b'x'"),
        ("documents", {"collections": 5}, "The collections are 5"),
        ("document", {"collections": 5}, "The collections are 5"),
        ("search", {"principals": 5}, "`principals` is 5; names of users and groups are allowed."),
        ("search", {"filters": 5}, "Cannot filter by 5"),
        ("search", {"neighbours": "x"}, "`neighbours` is 'x'; whole numbers from 0 to 1,000,000,000"),
        ("search", {"top_k": 10**30}, "'top_k' from the call is 1000.*at most 1000000000"),
        ("ask", {"history": 5}, "The history is 5; a list of turns is allowed. Write "),
        ("run", {"on_event": 5}, "`on_event` is 5; a function is allowed."),
        ("ingest_text", {"collection": 5}, "The collection is 5; text is allowed."),
        ("ingest_text", {"metadata": 5}, "The `metadata` of a text is 5; a mapping is allowed."),
        ("ingest_text", {"source_id": 5}, "The `source_id` of a text is 5; text is allowed."),
        ("reembed", {"on_event": "x"}, "`on_event` is 'x'"),
        ("documents", {"limit": "x"}, "`limit` is 'x'"),
        ("list", {"offset": None}, "`offset` is None"),
        ("show", {"last": "x"}, "`last` is 'x'"),
    ],
)
async def test_what_was_given_is_said(
    desk: refdesk.Desk, name: str, options: dict[str, Any], said: str
) -> None:
    verb, positional, usual = (await verbs(desk))[name]
    with pytest.raises(RefdeskError, match=said):
        await verb(*positional, **{**usual, **options})


async def test_names_come_in_any_list_and_numbers_of_any_kind(desk: refdesk.Desk) -> None:
    for given in (["default"], ("default",), {"default"}, (one for one in ["default"]), "default"):
        assert (await desk.search("leave", collections=given, neighbours=np.int64(1))).hits  # type: ignore[arg-type]
    assert len(await desk.documents(limit=np.int32(1))) == 1  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["ingest", "reembed", "delete", "failures", "vector_sets"])
async def test_an_empty_name_is_not_the_settings_collection(
    desk: refdesk.Desk, handbook: Path, name: str
) -> None:
    """A variable that was not set must not lead somewhere else."""
    sources = [handbook / "leave.md"] if name == "ingest" else ["leave.md"] if name == "delete" else []
    with pytest.raises(InputError, match="The collection is ''; a name that is not blank is allowed"):
        await getattr(desk, name)(*sources, collection="")


@pytest.mark.parametrize("path", ["", " "])
async def test_an_empty_path_is_not_the_folder_one_is_in(desk: refdesk.Desk, path: str) -> None:
    with pytest.raises(InputError, match=r"A path is empty\. .* the one you are in is '\.'"):
        await desk.ingest("handbook", path)


async def test_a_user_without_a_conversation_is_told_to_tools_and_nothing_is_kept(desk: refdesk.Desk) -> None:
    context = await desk.run("default", QUESTION, user="anna", conversation="")
    assert context.user == "anna"
    assert await desk.conversations.list(everyone=True) == ()


async def test_all_and_some_of_it_cannot_both_be_asked_for(desk: refdesk.Desk) -> None:
    await desk.ask(QUESTION, conversation="c", user="anna")
    talk = desk.conversations
    for call in (talk.list(everyone=True, user="anna"), talk.count(everyone=True, user="anna")):
        with pytest.raises(InputError, match="The user 'anna' is named, and `everyone` means"):
            await call
    for reading in (
        desk.documents(upkeep=True, principals="anna"),
        desk.documents(upkeep=True, principals=()),
        desk.collections(upkeep=True, principals="anna"),
        desk.collection("default", upkeep=True, principals="anna"),
    ):
        with pytest.raises(InputError, match=r"The call asks as .*, and `upkeep` reads whoever may read it"):
            await reading
    assert len(await talk.list(everyone=True)) == 1
    assert (await talk.count(everyone=True)).messages == 2


async def test_upkeep_is_for_a_desk_that_asks_as_somebody(desk: refdesk.Desk) -> None:
    embedder = desk.services.built["embedder"]
    library = desk.settings.library
    async with refdesk.aopen(library, embedder=embedder, principals="bert") as other:  # type: ignore[arg-type]
        await other.ingest_text("Salaries are paid in March.", source_id="salaries", acl="anna")
        assert len(await other.documents(upkeep=True)) == 1 + len(await other.documents())


@pytest.mark.parametrize("library", [5, b"x", ["library"], object()])
async def test_a_library_is_a_path_or_a_url(library: Any) -> None:
    with pytest.raises(InputError, match=r"The library is .*; text is allowed"):
        async with refdesk.aopen(library):
            pass


async def test_a_listener_is_a_function(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="A listener is 5; a function is allowed"):
        async with refdesk.aopen(tmp_path, listeners=[5]):  # type: ignore[list-item]
            pass
