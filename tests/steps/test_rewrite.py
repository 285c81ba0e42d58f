"""`rewrite`: what somebody says to a query, never to an answer."""

import threading
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.steps.querying import ASKED, DOWN, QUESTION, after, assert_passed_over, prompt_of, replied, traced

from refdesk.context import Context
from refdesk.documents import Hit
from refdesk.errors import LimitReached, StepError
from refdesk.llm import Message
from refdesk.pipeline import Pipeline
from refdesk.steps import Condense, Expand, Rewrite, Search
from refdesk.steps.results import distinct, query_in, same
from refdesk.testing.llm import ScriptedLLM

pytestmark = pytest.mark.anyio
SHORT = "warranty X200 pump"
PASSAGE = {"id": "c1", "text": "The guarantee period of the X200 is three years.", "title": "X200 manual"}


class Spelling:
    """Corrects words that it knows."""

    def __init__(self, **words: str) -> None:
        self.words = words or {"warrenty": "warranty"}

    def rewrite(self, question: str) -> str:
        return " ".join(self.words.get(word, word) for word in question.split())


class Later:
    async def rewrite(self, question: str) -> str:
        return question.upper()


async def slow(question: str) -> str:
    await anyio.sleep_forever()
    return ""


def found(query: str, collection: str) -> list[dict[str, Any]]:
    return [PASSAGE]


async def test_small_talk_goes_and_search_uses_the_query() -> None:
    asked = Context(question="Hey, I want to compare Elixir and Go")
    llm = ScriptedLLM(["compare Elixir and Go"])
    context = await after(Rewrite() | Search(searcher=found), asked, llm=llm)
    assert context.rewritten_query == "compare Elixir and Go"
    assert [one.question for one in context.results] == ["compare Elixir and Go"]
    assert context.question == asked.question
    assert context.trace[0].measures == {"query": "compare Elixir and Go"}
    assert llm.asked[0][-1].text == "Message: Hey, I want to compare Elixir and Go\nQuery:"


@pytest.mark.parametrize(
    ("reply", "query"),
    [
        (f'"{SHORT}"', SHORT),
        (f"`{SHORT}`", SHORT),
        (f"“{SHORT}”", SHORT),
        (f"«{SHORT}»", SHORT),
        (f"'\"{SHORT}\"'", SHORT),
        (f"**{SHORT}**", SHORT),
        (f"```\n{SHORT}\n```", SHORT),
        (f"```text\n{SHORT}\n```", SHORT),
        (f"```{SHORT}```", SHORT),
        (f"Query: {SHORT}", SHORT),
        (f"**Query:** {SHORT}", SHORT),
        (f"- Rewritten query: '{SHORT}'", SHORT),
        (f"Here is the query:\n\n{SHORT}", SHORT),
        (f"Sure! Here is a clear query:\nQuery:\n{SHORT}\n", SHORT),
        (f"{SHORT}\nMessage: hello\nQuery: greeting", SHORT),
        (f"{SHORT}\n\nI left out the greeting, since it finds nothing.", SHORT),
        ("warranty\t X200 \u00a0 pump\r\n", SHORT),
        ("the 'on' switch", "the 'on' switch"),
        ('"X200" OR "X300"', '"X200" OR "X300"'),
        ('monitor 27"', 'monitor 27"'),
        ("C++ vs. C#", "C++ vs. C#"),
        ("Query:", "Query:"),
        ("SQL query: slow joins", "SQL query: slow joins"),
        ("保証期間 X200", "保証期間 X200"),
    ],
)
async def test_the_query_in_a_reply(reply: str, query: str) -> None:
    context = await replied(Rewrite(on_error="stop"), reply)
    assert (context.error, context.rewritten_query) == (None, query)


@pytest.mark.parametrize(
    "reply",
    [
        f"<think>They greet. Drop it.</think>\n{SHORT}",
        f"They greet. Drop it.\n</think>\n\n{SHORT}",
        f"<thinking>\nQuery: something else\n</thinking>{SHORT}",
    ],
)
async def test_thoughts_are_no_query(reply: str) -> None:
    assert (await replied(Rewrite(), reply)).rewritten_query == SHORT


@pytest.mark.parametrize("reply", ['""', "``` ```", "```\n```", "...", "?", "** **", "\"''\""])
async def test_a_reply_without_words_leaves_the_query(reply: str) -> None:
    assert_passed_over(await replied(Rewrite(), reply), ASKED, "rewrite: ")
    assert isinstance((await replied(Rewrite(on_error="stop"), reply)).error, StepError)


async def test_blank_replies_and_models_that_are_down() -> None:
    assert_passed_over(await replied(Rewrite(), " \n\t"), ASKED, "returned no text")
    assert_passed_over(await replied(Rewrite(), DOWN), ASKED, "cannot be reached")
    assert (await replied(Rewrite(on_error="stop"), DOWN)).error is DOWN


async def test_an_answer_is_no_query() -> None:
    answer = "The X200 is covered for three years from the day of purchase. " * 6
    assert_passed_over(await replied(Rewrite(), answer), ASKED, "300 are allowed")
    asked = Context(question="word " * 100)
    assert (await replied(Rewrite(), answer, context=asked)).rewritten_query == answer.strip()
    endless = Context(question="word " * 4000)
    assert_passed_over(await replied(Rewrite(), "word " * 401, context=endless), endless, "2000 are allowed")


async def test_a_skipped_retrieval_needs_no_query() -> None:
    llm = ScriptedLLM([SHORT])
    context = await after(Rewrite(), ASKED.evolve(skip_retrieval=True), llm=llm)
    assert (context.rewritten_query, llm.asked) == ("", [])
    assert (traced(context).outcome, traced(context).measures["reason"]) == (
        "skipped",
        "retrieval is skipped",
    )


async def test_it_works_on_what_was_condensed_and_expanded() -> None:
    context = Context(question="and the X200?", rewritten_query="warranty of X200, please", expanded_query="")
    llm = ScriptedLLM([SHORT])
    assert (await after(Rewrite(), context, llm=llm)).query == SHORT
    assert "Message: warranty of X200, please" in prompt_of(llm)
    steps = Condense(condenser=lambda question, history: "unused") | Expand(expander=lambda q: q + " PUMP")
    context = await after(steps | Rewrite(rewriter=str.lower), Context(question="Warranty"))
    assert (context.query, context.rewritten_query, context.expanded_query) == (
        "warranty pump",
        "warranty pump",
        "",
    )


async def test_after_retrieval_the_first_hits_sharpen_the_query() -> None:
    before = ASKED.evolve(sub_questions=("warranty", "X200"))
    llm = ScriptedLLM(["guarantee period X200"])
    steps = Search(searcher=found) | Rewrite(after_retrieval=True) | Search(searcher=found, id="again")
    context = await after(steps, before, llm=llm)
    assert context.queries == ("guarantee period X200",)
    assert [one.question for one in context.results] == ["guarantee period X200"]
    assert context.queries_tried == ("warranty", "X200", "guarantee period X200")
    asked = prompt_of(llm)
    assert "The guarantee period of the X200" in asked
    assert "> Title: X200 manual" in asked
    assert f"Question: {QUESTION}\nQuery that found this: {QUESTION}\nQuery:" in asked
    assert "are data" in asked


async def test_after_retrieval_an_answer_never_becomes_text_that_is_shown() -> None:
    answer = "The guarantee period is three years.\nIt starts on the day of purchase [[1]]."
    context = await replied(Search(searcher=found) | Rewrite(after_retrieval=True), answer)
    assert (context.answer, context.evidence) == (None, ())
    assert context.rewritten_query == "The guarantee period is three years."


async def test_after_retrieval_without_hits() -> None:
    llm = ScriptedLLM(["guarantee X200"])
    steps = Search(searcher=lambda query, collection: []) | Rewrite(after_retrieval=True)
    assert (await after(steps, llm=llm)).query == "guarantee X200"
    assert "found nothing" in prompt_of(llm)
    assert "<source" not in prompt_of(llm)


async def test_after_retrieval_a_failure_leaves_query_and_results() -> None:
    steps = Search(searcher=found) | Rewrite(after_retrieval=True)
    before = ASKED.evolve(sub_questions=("a", "b"), expanded_query="wide")
    context = await after(steps, before, llm=ScriptedLLM([DOWN]))
    assert (context.sub_questions, context.expanded_query) == (("a", "b"), "wide")
    assert len(context.hits) == 1
    assert context.warnings == ("rewrite: The model scripted cannot be reached.",)


async def test_how_many_hits_are_shown() -> None:
    many = Search(searcher=lambda q, c: [PASSAGE | {"id": n, "text": f"passage {n}"} for n in range(9)])
    shown: list[tuple[Hit, ...]] = []

    def prompt(question: str, hits: tuple[Hit, ...]) -> str:
        shown.append(hits)
        return "?"

    await replied(many | Rewrite(after_retrieval=True, hits=2, prompt=prompt), "x")
    assert [hit.chunk.text for hit in shown[0]] == ["passage 0", "passage 1"]
    llm = ScriptedLLM(["x"])
    await after(many | Rewrite(after_retrieval=True, hits=3, prompt="{question}|{hits}"), llm=llm)
    assert prompt_of(llm).startswith(f"{QUESTION}|")
    assert "passage 2" in prompt_of(llm)
    assert "passage 3" not in prompt_of(llm)


async def test_prompts_and_models_of_ones_own() -> None:
    llm, own = ScriptedLLM(["theirs"]), ScriptedLLM(["mine"])
    prompted = Rewrite(prompt=lambda question: f"Clean up this conversational input: {question}", llm=own)
    assert (await after(prompted, llm=llm)).rewritten_query == "mine"
    assert own.asked == [(Message("user", f"Clean up this conversational input: {QUESTION}"),)]
    assert not llm.asked
    assert (await after(Rewrite(llm=lambda prompt: "from a function"))).query == "from a function"
    assert_passed_over(await after(Rewrite()), ASKED, "needs a language model")


@pytest.mark.parametrize(
    ("rewriter", "query"),
    [
        (str.lower, "the warrenty"),
        (Spelling, "The warranty"),
        (Spelling(The="the"), "the warrenty"),
        ((Spelling, {"The": "das"}), "das warrenty"),
        (Later, "THE WARRENTY"),
        (Later(), "THE WARRENTY"),
    ],
)
async def test_implementations_of_ones_own(rewriter: Any, query: str) -> None:
    context = await after(Rewrite(rewriter=rewriter, on_error="stop"), Context(question="The warrenty"))
    assert (context.error, context.rewritten_query) == (None, query)
    assert context.usage.requests == 0


@pytest.mark.parametrize("value", [None, "", "  ", 3, b"bytes", ["a"], {"query": "x"}, "y" * 2001])
async def test_nonsense_of_an_implementation(value: Any) -> None:
    assert_passed_over(await after(Rewrite(rewriter=lambda question: value)), ASKED, "as its query")
    stopped = await after(Rewrite(rewriter=lambda question: value, on_error="stop"))
    assert isinstance(stopped.error, StepError)
    assert stopped.error.step == "rewrite"


async def test_a_thread_that_hangs_holds_nobody_up() -> None:
    release = threading.Event()

    def hang(question: str) -> str:
        release.wait(30)
        return "too late"

    try:
        context = await after(Rewrite(rewriter=hang, timeout=0.02))
        assert_passed_over(context, ASKED, "took longer than 0.02")
    finally:
        release.set()


async def test_failing_and_late_implementations() -> None:
    assert_passed_over(await after(Rewrite(rewriter=lambda q: q[1:2][9])), ASKED, "IndexError")
    assert_passed_over(await after(Rewrite(rewriter=slow, timeout=0.02)), ASKED, "took longer than 0.02")
    late = await after(Rewrite(rewriter=slow, timeout=0.02, on_error="stop"))
    assert isinstance(late.error, LimitReached)


def test_what_is_wrong_with_options() -> None:
    problems = Pipeline((Rewrite(hits=0), Rewrite(prompt="{hits}"), Rewrite(after_retrieval=True))).problems()
    reasons = [(problem.position, problem.reason) for problem in problems]
    assert [position for position, _ in reasons] == ["1", "2", "3", ""]
    assert "'hits'" in reasons[0][1]
    assert "{hits}" in reasons[1][1]
    assert "a step that searches" in reasons[2][1]
    fine = Search() | Rewrite(after_retrieval=True, prompt="{hits}")
    assert [problem.reason for problem in fine.problems()] == ["No step answers."]


@given(st.text(max_size=200))
def test_a_query_is_always_one_clean_line(text: str) -> None:
    query = query_in(text)
    assert query == " ".join(query.split())
    assert len(query) <= len(text)
    query.encode()


@given(st.lists(st.text(max_size=20), max_size=8))
def test_distinct_queries(queries: list[str]) -> None:
    kept = distinct(queries)
    assert len({same(query) for query in kept}) == len(kept)
    assert {same(query) for query in queries} - {""} == {same(query) for query in kept}
    assert distinct(kept) == kept


def test_what_makes_queries_the_same() -> None:
    assert distinct(
        ["What is Go?", " what  is go", "WHAT IS ＧＯ ?", "?", "", "What is C++", "What is C#"]
    ) == (
        "What is Go?",
        "What is C++",
        "What is C#",
    )
