"""`expand`: more words for a query, and none of its own lost."""

from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.steps.querying import ASKED, DOWN, QUESTION, after, assert_passed_over, prompt_of, replied, traced

from refdesk.context import Context
from refdesk.errors import LimitReached, StepError
from refdesk.llm import Message
from refdesk.pipeline import Pipeline
from refdesk.steps import Decompose, Expand, Rewrite, Search
from refdesk.steps.expand import with_all_words
from refdesk.testing.llm import ScriptedLLM

pytestmark = pytest.mark.anyio
LANGUAGE = Context(question="Elixir programming")
WIDE = "Elixir programming language functional BEAM Erlang VM"


class Thesaurus:
    """Adds terms that it knows."""

    def __init__(self, **terms: str) -> None:
        self.terms = terms or {"heart": "cardiac"}

    def expand(self, question: str) -> str:
        return " ".join([question, *(more for word, more in self.terms.items() if word in question)])


class Later:
    async def expand(self, question: str) -> str:
        return f"{question} later"


async def slow(question: str) -> str:
    await anyio.sleep_forever()
    return ""


async def test_an_expanded_query_is_what_is_searched() -> None:
    llm = ScriptedLLM([WIDE])
    context = await after(Expand() | Search(searcher=lambda query, name: []), LANGUAGE, llm=llm)
    assert context.expanded_query == WIDE
    assert context.queries_tried == (WIDE,)
    assert context.trace[0].measures == {"query": WIDE}
    assert llm.asked[0][-1].text == "Query: Elixir programming\nExpanded:"


async def test_words_that_a_model_lost_are_kept() -> None:
    context = await replied(
        Expand(), "cardiac arrest treatment", context=Context(question="heart attack, 2024?")
    )
    assert context.expanded_query == "heart attack, 2024? cardiac arrest treatment"
    context = await replied(
        Expand(), "attack (heart) 2024 infarction", context=Context(question="heart attack?")
    )
    assert context.expanded_query == "attack (heart) 2024 infarction"


@pytest.mark.parametrize(
    ("query", "expanded", "complete"),
    [
        ("C++ templates", "c++ templates generics", True),
        ("C++ templates", "C templates generics", False),
        ("cat", "category", True),
        ("a cat", "cat in category", False),
        ("ポンプ 保証", "ポンプ 保証 期間", True),
        ("ポンプ", "保証", False),
        ("STRASSE 1", "straße 1 road", True),
        ("  leave \n days ", "leave days vacation", True),
        ("?!", "anything", True),
    ],
)
def test_what_counts_as_kept(query: str, expanded: str, complete: bool) -> None:
    assert with_all_words(query, expanded) == (expanded if complete else f"{query} {expanded}")


@given(st.text(max_size=60), st.text(max_size=60))
def test_no_word_is_ever_lost(query: str, expanded: str) -> None:
    result = with_all_words(query, expanded)
    assert result.endswith(expanded)
    words = {word.strip(".,;:!?\"'`()[]{}<>“”„‘’«»") for word in query.casefold().split()}
    assert all(word in result.casefold() for word in words)


@pytest.mark.parametrize(
    "reply",
    [
        f'"{WIDE}"',
        f"Expanded query: {WIDE}",
        f"```\n{WIDE}\n```",
        f"<think>BEAM?</think>\n{WIDE}",
        f"{WIDE}\n\nNote: x",
    ],
)
async def test_replies_as_models_give_them(reply: str) -> None:
    assert (await replied(Expand(), reply, context=LANGUAGE)).expanded_query == WIDE


@pytest.mark.parametrize("reply", ['""', "...", "long " * 500, " "])
async def test_useless_replies_leave_the_query(reply: str) -> None:
    assert_passed_over(await replied(Expand(), reply), ASKED, "expand: ")
    assert (await replied(Expand(on_error="stop"), reply)).error is not None


async def test_a_failure_leaves_the_rewritten_query() -> None:
    before = ASKED.evolve(rewritten_query="warranty X200")
    context = await replied(Expand(), DOWN, context=before)
    assert_passed_over(context, before, "cannot be reached")
    assert context.queries == ("warranty X200",)


async def test_a_skipped_retrieval_needs_no_words() -> None:
    llm = ScriptedLLM([WIDE])
    context = await after(Expand(), ASKED.evolve(skip_retrieval=True), llm=llm)
    assert (context.expanded_query, llm.asked, traced(context).outcome) == ("", [], "skipped")


async def test_rewrite_expand_and_decompose_follow_one_another() -> None:
    steps = (
        Rewrite(rewriter=lambda q: "rewritten")
        | Expand(expander=lambda q: f"{q} expanded")
        | Decompose(decomposer=lambda q: [f"{q} 1", f"{q} 2"])
    )
    context = await after(steps)
    assert context.rewritten_query == "rewritten"
    assert context.expanded_query == "rewritten expanded"
    assert context.queries == ("rewritten expanded 1", "rewritten expanded 2")


async def test_prompts_and_models_of_ones_own() -> None:
    llm, own = ScriptedLLM(["theirs"]), ScriptedLLM([WIDE])
    context = await after(Expand(prompt="Expand for search: {question}", llm=own), LANGUAGE, llm=llm)
    assert (context.expanded_query, llm.asked) == (WIDE, [])
    assert own.asked == [(Message("user", "Expand for search: Elixir programming"),)]
    assert prompt_of(own).endswith("Elixir programming")
    context = await after(Expand(prompt=lambda question: question[::-1], llm=lambda prompt: prompt[::-1]))
    assert context.expanded_query == QUESTION
    assert_passed_over(await after(Expand()), ASKED, "needs a language model")


@pytest.mark.parametrize(
    ("expander", "query"),
    [
        (lambda question: question + " programming language", "heart programming language"),
        (lambda question: "only this", "only this"),
        (Thesaurus, "heart cardiac"),
        (Thesaurus(heart="coronary"), "heart coronary"),
        ((Thesaurus, {"heart": "Herz"}), "heart Herz"),
        (Later, "heart later"),
        (Later(), "heart later"),
    ],
)
async def test_implementations_of_ones_own(expander: Any, query: str) -> None:
    context = await after(Expand(expander=expander, on_error="stop"), Context(question="heart"))
    assert (context.error, context.expanded_query, context.usage.requests) == (None, query, 0)


@pytest.mark.parametrize("value", [None, "", "\n", 3, ["a", "b"], ("a", "b"), True, "y" * 2001])
async def test_nonsense_of_an_implementation(value: Any) -> None:
    assert_passed_over(await after(Expand(expander=lambda question: value)), ASKED, "as its query")
    assert isinstance((await after(Expand(expander=lambda q: value, on_error="stop"))).error, StepError)


async def test_failing_and_late_implementations() -> None:
    assert_passed_over(await after(Expand(expander=lambda q: q[1:2][9])), ASKED, "IndexError")
    assert_passed_over(await after(Expand(expander=slow, timeout=0.02)), ASKED, "took longer than 0.02")
    late = await after(Expand(expander=slow, timeout=0.02, on_error="stop"))
    assert isinstance(late.error, LimitReached)


def test_what_is_wrong_with_options() -> None:
    wrong, *_ = Pipeline((Expand(prompt="{query}"),)).problems()
    assert "{query}" in wrong.reason
    assert "allowed: question" in wrong.reason
