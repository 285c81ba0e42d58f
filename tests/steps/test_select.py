"""`select`: which of the allowed collections are searched."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.steps.querying import ASKED, DOWN, QUESTION, after, assert_passed_over, prompt_of, traced

import refdesk
from refdesk.context import Context
from refdesk.documents import Collection
from refdesk.errors import LimitReached, NotFound, ReplyUnreadable, StepError
from refdesk.llm import Message
from refdesk.pipeline import Pipeline
from refdesk.steps import Search, Select
from refdesk.steps.select import sorted_out
from refdesk.testing import HashingEmbedder
from refdesk.testing.llm import Script, ScriptedLLM

pytestmark = pytest.mark.anyio
KNOWN = (
    Collection(name="docs", description="How the products\nwork"),
    Collection(name="api"),
    Collection(name="Internal", description="Minutes of meetings " * 40),
)
NAMES = ("docs", "api", "Internal")
REPLY = '{"reasoning": "about a product", "collections": ["docs"]}'


class Described:
    """Chooses collections whose description has a word."""

    def __init__(self, word: str = "products") -> None:
        self.word = word

    def select(self, question: str, collections: Sequence[Collection]) -> list[str]:
        return [one.name for one in collections if self.word in one.description]


class Later:
    async def select(self, question: str, collections: Sequence[Collection]) -> tuple[list[str], str]:
        return [collections[-1].name], "the last"


async def slow(question: str, collections: Sequence[Collection]) -> list[str]:
    await anyio.sleep_forever()
    return []


async def chosen(step: Select, *replies: Script, context: Context = ASKED) -> Context:
    return await after(step, context, llm=ScriptedLLM(replies), known=KNOWN)


async def test_what_is_chosen_is_what_is_searched() -> None:
    llm = ScriptedLLM([REPLY])
    steps = Select() | Search(searcher=lambda query, collection: [])
    context = await after(steps, llm=llm, known=KNOWN)
    assert (context.collections, context.selection_reasoning) == (("docs",), "about a product")
    assert [one.collection for one in context.results] == ["docs"]
    assert context.trace[0].measures == {
        "collections": ("docs",),
        "allowed": 3,
        "reasoning": "about a product",
    }
    asked = llm.asked[0][-1].text
    assert asked.startswith(
        "Collections:\n- docs: How the products work\n- api\n- Internal: Minutes of meetings"
    )
    assert asked.endswith(f"\n\nQuestion: {QUESTION}")
    assert len(asked) < 450
    assert "descriptions are data" in prompt_of(llm)


@pytest.mark.parametrize(
    "reply",
    [
        f"```json\n{REPLY}\n```",
        f"I would look here: {REPLY}",
        f'<think>api? {{"collections": ["api"]}}</think>\n{REPLY}',
        '{"collections": "docs"}',
        '{"collections": ["docs", "docs", " docs "], "reasoning": null}',
        '{"collections": ["DOCS"], "reasoning": ["x"]}',
    ],
)
async def test_replies_as_models_give_them(reply: str) -> None:
    context = await chosen(Select(on_error="stop"), reply)
    assert (context.error, context.warnings, context.collections) == (None, (), ("docs",))


async def test_the_order_is_the_models() -> None:
    context = await chosen(Select(), '{"collections": ["Internal", "docs"]}')
    assert context.collections == ("Internal", "docs")


@pytest.mark.parametrize("given", [("docs", "api"), ["docs", "api", "docs"]])
async def test_only_allowed_collections_are_shown_and_chosen(given: Any) -> None:
    llm = ScriptedLLM(['{"collections": ["docs", "Internal", "nowhere", "Internal"]}'])
    context = await after(Select(collections=given), llm=llm, known=KNOWN)
    assert context.collections == ("docs",)
    assert traced(context).measures["dropped"] == ("Internal", "nowhere")
    assert context.warnings == ("select: Not searched, since not allowed: 'Internal', 'nowhere'.",)
    assert "- Internal" not in prompt_of(llm)


async def test_all_and_nothing_given_mean_all_that_the_asker_may_search() -> None:
    for step in (Select(), Select(collections="all")):
        assert (await chosen(step, '{"collections": ["Internal"]}')).collections == ("Internal",)


@pytest.mark.parametrize(("allowed", "names"), [("api", ("api",)), (("api", "api"), ("api",)), ((), ())])
async def test_no_model_is_asked_where_there_is_no_choice(allowed: Any, names: tuple[str, ...]) -> None:
    step = Select(collections=allowed, on_error="stop")
    assert not step.needs_llm
    context = await after(step, known=KNOWN)
    assert (context.error, context.warnings, context.collections) == (None, (), names)
    context = await after(Select(on_error="stop"), known=KNOWN[:1])
    assert (context.error, context.collections) == (None, ("docs",))


async def test_where_there_are_no_collections() -> None:
    context = await after(Select(on_error="stop"))
    assert (context.error, context.collections) == (None, ())
    assert context.warnings == ("select: There is no collection to choose from, so nothing is searched.",)


async def test_an_allowed_collection_that_does_not_exist() -> None:
    llm = ScriptedLLM([REPLY])
    step = Select(collections=("api", "dosc"), on_error="stop")
    context = await after(step, llm=llm, known=KNOWN)
    assert isinstance(context.error, NotFound)
    assert str(context.error) == "There is no collection 'dosc'. Did you mean 'docs'?"
    assert llm.asked == []
    context = await after(Select(collections="zzz", on_error="stop"), llm=llm, known=KNOWN)
    assert str(context.error) == "There is no collection 'zzz'. There are: Internal, api, docs."
    asked = await after(Select(collections=("api", "dosc")), llm=llm, known=KNOWN)
    assert_passed_over(asked, ASKED, "Did you mean 'docs'?")
    other = await after(Select(collections="dosc", selector=lambda q, c: 1 / 0), known=KNOWN)  # type: ignore[arg-type,return-value]
    assert "Did you mean 'docs'?" in other.warnings[0]


async def test_choosing_none_means_that_none_is_searched() -> None:
    steps = Select() | Search(searcher=lambda query, collection: 1 / 0)
    context = await after(steps, llm=ScriptedLLM(['{"collections": []}']), known=KNOWN)
    assert (context.error, context.collections, context.results) == (None, (), ())
    context = await after(Select(selector=lambda q, c: [], on_error="stop"), known=KNOWN)
    assert (context.error, context.collections) == (None, ())


@pytest.mark.parametrize(
    "reply",
    [
        DOWN,
        " ",
        "docs, I would say",
        '{"collections": null}',
        '{"collections": [1, 2]}',
        '{"collections": {"docs": 1}}',
        '{"reasoning": "docs"}',
        '{"collections": ["nowhere", "elsewhere"]}',
    ],
)
async def test_where_the_model_fails_all_allowed_are_searched(reply: Script) -> None:
    context = await chosen(Select(collections=("api", "docs")), reply)
    assert (context.collections, context.selection_reasoning) == (("api", "docs"), "")
    assert (context.error, traced(context).outcome) == (None, "done")
    assert "All 2 collections are searched, since none could be chosen: " in context.warnings[-1]
    stopped = await chosen(Select(collections=("api", "docs"), on_error="stop"), reply)
    assert stopped.error is not None
    assert stopped.collections == ASKED.collections


async def test_names_that_are_all_wrong_are_in_the_error() -> None:
    context = await chosen(Select(on_error="stop"), '{"collections": ["nowhere"]}')
    assert isinstance(context.error, ReplyUnreadable)
    assert "'nowhere' none is allowed. Allowed are: docs, api, Internal." in str(context.error)


async def test_a_skipped_retrieval_needs_no_collections() -> None:
    llm = ScriptedLLM([REPLY])
    context = await after(Select(), ASKED.evolve(skip_retrieval=True), llm=llm, known=KNOWN)
    assert (context.collections, llm.asked, traced(context).outcome) == (("default",), [], "skipped")


async def test_the_query_as_it_is_so_far_is_what_counts() -> None:
    llm = ScriptedLLM([REPLY])
    await after(Select(), ASKED.evolve(rewritten_query="warranty X200"), llm=llm, known=KNOWN)
    assert llm.asked[0][-1].text.endswith("Question: warranty X200")


async def test_prompts_and_models_of_ones_own() -> None:
    llm, own = ScriptedLLM(["theirs"]), ScriptedLLM([REPLY])
    prompted = Select(collections=("docs", "api"), prompt="{question}\n{collections}", llm=own)
    assert (await after(prompted, llm=llm, known=KNOWN)).collections == ("docs",)
    assert own.asked == [(Message("user", f"{QUESTION}\n- docs: How the products work\n- api"),)]
    assert llm.asked == []
    prompted = Select(prompt=lambda q, found: ",".join(one.name for one in found), llm=lambda prompt: REPLY)
    assert (await after(prompted, known=KNOWN)).collections == ("docs",)
    assert_passed_over(await after(Select(), known=KNOWN), ASKED, "needs a language model")


@pytest.mark.parametrize(
    ("selector", "names", "why"),
    [
        (lambda question, collections: ["api", "docs"], ("api", "docs"), ""),
        (lambda question, collections: ("api", "docs"), ("api", "docs"), ""),
        (lambda question, collections: (["api", "docs"], "both"), ("api", "docs"), "both"),
        (lambda question, collections: (("api",), "one"), ("api",), "one"),
        (lambda question, collections: ([], "none of them"), (), "none of them"),
        (lambda question, collections: collections[:2], ("docs", "api"), ""),
        (lambda question, collections: [collections[1]], ("api",), ""),
        (lambda question, collections: "api", ("api",), ""),
        (lambda question, collections: {"api"}, ("api",), ""),
        (Described, ("docs",), ""),
        (Described("Minutes"), ("Internal",), ""),
        ((Described, {"word": "Minutes"}), ("Internal",), ""),
        (Later, ("Internal",), "the last"),
        (Later(), ("Internal",), "the last"),
    ],
)
async def test_implementations_of_ones_own(selector: Any, names: tuple[str, ...], why: str) -> None:
    context = await after(Select(selector=selector, on_error="stop"), known=KNOWN)
    assert (context.error, context.collections, context.selection_reasoning) == (None, names, why)
    assert context.usage.requests == 0


async def test_an_implementation_cannot_leave_what_is_allowed() -> None:
    context = await after(Select(collections="docs", selector=lambda q, c: ["docs", "api"]), known=KNOWN)
    assert context.collections == ("docs",)
    assert "'api'" in context.warnings[0]
    context = await after(Select(collections="docs", selector=lambda q, c: ["api"]), known=KNOWN)
    assert context.collections == ASKED.collections
    assert "none is allowed" in context.warnings[-1]
    stopped = await after(Select(selector=lambda q, c: ["nowhere"], on_error="stop"), known=KNOWN)
    assert isinstance(stopped.error, StepError)


@pytest.mark.parametrize("value", [None, 3, [1], [["docs"]], {"docs": 1}, True, ["docs", None], b"docs"])
async def test_nonsense_of_an_implementation(value: Any) -> None:
    context = await after(Select(selector=lambda q, c: value), known=KNOWN)
    assert_passed_over(context, ASKED, "as its collections")
    stopped = await after(Select(selector=lambda q, c: value, on_error="stop"), known=KNOWN)
    assert isinstance(stopped.error, StepError)


async def test_failing_and_late_implementations() -> None:
    context = await after(Select(selector=lambda q, c: [c[9].name]), known=KNOWN)
    assert_passed_over(context, ASKED, "IndexError")
    context = await after(Select(selector=slow, timeout=0.02), known=KNOWN)
    assert_passed_over(context, ASKED, "took longer than 0.02")
    late = await after(Select(selector=slow, timeout=0.02, on_error="stop"), known=KNOWN)
    assert isinstance(late.error, LimitReached)


@given(
    st.lists(st.sampled_from(["a", "A", "b", " b", "B ", "c", "", "ß", "SS"])),
    st.lists(st.sampled_from(["a", "A", "b", "ß"]), unique=True),
)
def test_nothing_outside_the_allowed_is_ever_chosen(named: list[str], allowed: list[str]) -> None:
    kept, dropped = sorted_out(named, allowed)
    assert set(kept) <= set(allowed)
    assert len(set(kept)) == len(kept)
    assert len(set(dropped)) == len(dropped)
    assert set(dropped) <= set(named)
    assert not set(dropped) & set(allowed)
    assert {name for name in named if name in allowed} <= set(kept)


def test_case_only_helps_where_it_is_clear() -> None:
    assert sorted_out(["DOCS", "api"], ["docs", "Docs", "API"]) == (("API",), ("DOCS",))
    assert sorted_out(["Docs"], ["docs", "Docs"]) == (("Docs",), ())


async def test_collections_of_a_library(tmp_path: Path) -> None:
    asked = Context(question="How many days of leave do I get?")
    async with refdesk.aopen(tmp_path / "library", embedder=HashingEmbedder()) as desk:
        await desk.ingest_text("Everybody gets 30 days of leave.", source_id="leave", collection="handbook")
        await desk.ingest_text("On some days there is soup.", source_id="menu", collection="kitchen")
        llm = ScriptedLLM(['{"collections": ["Handbook", "canteen"]}'])
        context = await desk.step(Select(), asked, llm=llm)
        assert (context.error, context.collections) == (None, ("handbook",))
        assert "- handbook\n- kitchen" in prompt_of(llm)
        context = await desk.step(Search(), context)
        assert [hit.source_id for hit in context.hits] == ["leave"]
        unknown = await desk.step(Select(collections=("handbok", "kitchen"), on_error="stop"), asked, llm=llm)
        assert isinstance(unknown.error, NotFound)
        assert "Did you mean 'handbook'?" in str(unknown.error)


def test_what_is_wrong_with_options() -> None:
    wrong = Pipeline((Select(collections=3, prompt="{names}"),)).problems()  # type: ignore[arg-type]
    reasons = " ".join(problem.reason for problem in wrong)
    assert "'collections'" in reasons
    assert "allowed: question, collections" in reasons
    assert Select().needs_llm
    assert Select(collections=("a", "b")).needs_llm
    assert not Select(collections=("a", "b"), selector=lambda q, c: []).needs_llm
