"""Every step that comes with refdesk keeps the contract of steps; and the suite finds those that do not."""

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import pytest
from tests.steps.services import document, services_on

from refdesk.context import Context, Turn
from refdesk.desk.calls import CallServices
from refdesk.errors import LLMError
from refdesk.pipeline import Kind, OnError, Repeat, Run, Step, When
from refdesk.steps import BUILTIN, Search
from refdesk.testing.llm import ScriptedLLM
from refdesk.testing.steps import NoLibrary, check_declaration, check_step, sample_context

pytestmark = pytest.mark.anyio

LEAVE = "Employees get 30 days of leave per year.\nUnused leave expires in March.\nAsk two weeks ahead."
KITCHEN = "The kitchen closes at six.\nThe coffee machine is cleaned on Fridays."
QUESTION = "How many days of leave do employees get?"


def scripted(value: Any) -> ScriptedLLM:
    return ScriptedLLM([value if isinstance(value, str) else json.dumps(value)])


def investigated(messages: Any, tools: Any, options: Any) -> Any:
    """Search once, then answer."""
    searched = any(message.role == "tool" for message in messages)
    answer = {"name": "answer", "arguments": {"text": "30 days [[1]]."}}
    return answer if searched else {"name": "search", "arguments": {"query": "days of leave"}}


SAMPLES: dict[str, dict[str, Any]] = {
    "gate": {"llm": scripted({"needs_retrieval": True, "reasoning": "It asks about documents."})},
    "condense": {"llm": scripted("days of leave per year")},
    "rewrite": {"llm": scripted("days of leave per year")},
    "select": {"llm": scripted({"reasoning": "All.", "collections": ["default"]})},
    "expand": {"llm": scripted("days of leave per year, vacation")},
    "decompose": {"llm": scripted({"sub_questions": ["days of leave", "when leave expires"]})},
    "reason": {"llm": scripted({"sufficient": False, "follow_up_query": "expiry of unused leave"})},
    "distill": {"llm": scripted("30 days of leave per year [[1]].")},
    "answer": {"llm": scripted("Employees get 30 days of leave [[1]].")},
    "investigate": {"controller_llm": investigated, "answer_llm": scripted("Employees get 30 days [[1]].")},
    "invite": {"text": "Ask in [the forum](https://forum.example/new)."},
    "review": {"llm": scripted({"decision": "pass", "verdict": "pass", "reason": "Fine."})},
    "when": {"condition": "hits>0", "steps": (Search(),)},
    "repeat": {"until": "hits>0", "steps": (Search(),)},
}
"""Options with which a step has something to do and succeeds; those that are not here need none."""


@pytest.fixture
async def services(tmp_path: Path) -> AsyncIterator[CallServices]:
    documents = (
        document(LEAVE, source_id="leave"),
        document(KITCHEN, source_id="kitchen"),
        document("The X300 pump has no warranty.", source_id="pumps", collection="pumps"),
    )
    async with services_on(tmp_path / "library", *documents) as services:
        yield services


@pytest.fixture
async def context(services: CallServices) -> Context:
    """A context that was searched and answered in the library."""
    searched = await Run(services=services).step(Search(), Context(question=QUESTION))
    sample = sample_context()
    return searched.evolve(
        history=(Turn("user", "Tell me about leave."), Turn("assistant", "What about it?")),
        conversation="a conversation",
        answer=sample.answer and replace(sample.answer, question=QUESTION),
        trace=(),
    )


@pytest.mark.parametrize("kind", BUILTIN, ids=lambda kind: kind.name)
async def test_every_step_keeps_the_contract(
    kind: type[Step], context: Context, services: CallServices
) -> None:
    await check_step(kind(**SAMPLES.get(kind.name, {})), context, services=services)


def test_names_are_those_of_files() -> None:
    for kind in BUILTIN:
        folder = "pipeline.control" if kind in (When, Repeat) else f"steps.{kind.name}"
        assert kind.__module__ == f"refdesk.{folder}"


@dataclass(frozen=True, kw_only=True)
class Good(Step):
    """Take the query as it is, or what a spell checker makes of it."""

    kind: ClassVar[Kind] = "query_optimizer"
    reads: ClassVar[frozenset[str]] = frozenset({"query"})
    writes: ClassVar[frozenset[str]] = frozenset({"rewritten_query"})
    worker: ClassVar[str] = "speller"
    method: ClassVar[str] = "spell"
    leaves: ClassVar[str] = "The query as it was."

    speller: Any = None
    """An implementation of your own."""
    on_error: OnError = "continue"

    async def __call__(self, context: Context, run: Run) -> Context:
        query = await self.work(context.query) if self.speller else context.query
        if not isinstance(query, str):
            raise TypeError(f"{query!r} is no query")
        return context.evolve(rewritten_query=query)


async def test_a_step_of_ones_own() -> None:
    await check_step(Good())
    await check_step(Good(speller=str.lower))


class ReadsMore(Good):
    """Read what it does not declare."""

    async def __call__(self, context: Context, run: Run) -> Context:
        run.measure(hits=len(context.hits), turns=len(context.history))
        return await super().__call__(context, run)


class DecidesByMore(Good):
    """Decide by what it does not declare."""

    def skips(self, context: Context) -> str:
        return "" if context.answer else "there is no answer"


class WritesMore(Good):
    """Write what it does not declare."""

    async def __call__(self, context: Context, run: Run) -> Context:
        return context.evolve(zone="weak", expanded_query="x")


class Swallows(Good):
    """Take a failure for a result."""

    async def __call__(self, context: Context, run: Run) -> Context:
        try:
            return await super().__call__(context, run)
        except Exception:
            return context


class Believes(Good):
    """Take whatever a worker returns."""

    async def __call__(self, context: Context, run: Run) -> Context:
        return context.evolve(rewritten_query=await self.work(context.query) if self.speller else "x")


class Idle(Good):
    """Never have anything to do."""

    def skips(self, context: Context) -> str:
        return "it is idle"


class Alters(Good):
    """Alter what it was given."""

    reads = frozenset({"query", "rerank_scores"})

    async def __call__(self, context: Context, run: Run) -> Context:
        context.rerank_scores["x"] = 1.0  # type: ignore[index]
        return await super().__call__(context, run)


class Immortal(Good):
    """Go on when it is broken off."""

    async def __call__(self, context: Context, run: Run) -> Context:
        try:
            return await super().__call__(context, run)
        except BaseException as error:
            if isinstance(error, Exception):
                raise
            return context


class Fails(Good):
    """Fail."""

    async def __call__(self, context: Context, run: Run) -> Context:
        raise ValueError("broken")


class Untold(Good):
    reads = frozenset({"query"})


class Unleft(Good):
    """Say nothing of what it leaves."""

    leaves = " "


class Misread(Good):
    """Declare what no context has."""

    reads = frozenset({"query", "hitz"})


class Workless(Good):
    """Name a worker that is no option."""

    worker = "checker"


class Forgetful(Good):
    """Forget to be a dataclass."""

    depth: int = 3


@dataclass(frozen=True, kw_only=True)
class Bare(Good):
    """Have an option that nothing describes."""

    depth: int = 3


@pytest.mark.parametrize(
    ("step", "said"),
    [
        (ReadsMore(), "It reads history, hits, which `reads` does not declare."),
        (DecidesByMore(), "It reads answer, which"),
        (WritesMore(), "changed expanded_query, zone, which it does not declare"),
        (Swallows(), "What it works with failed, and it did not."),
        (Believes(), "took that for a result"),
        (Idle(), "It has nothing to do, it is idle"),
        (Alters(), "It altered the context"),
        (Fails(), "It failed: fails: The step 'fails' failed: ValueError: broken."),
        (Fails(on_error="stop"), "It failed: The step 'fails' failed"),
        (Untold(), "has no docstring"),
        (Unleft(), "`leaves` does not say"),
        (Misread(), "have ['hitz'], which no context has"),
        (Workless(), "'checker' has to be an option"),
        (Forgetful(), "['depth'] are no options: is the class a dataclass?"),
        (Bare(), "The options depth have no docstring"),
        (Good(timeout=-1), "Something is wrong with its options"),
        (Good(speller=lambda query: 5), "5 is no query"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Step) else "",
)
async def test_what_the_suite_finds(step: Step, said: str) -> None:
    with pytest.raises(AssertionError) as raised:
        await check_step(step)
    assert said in str(raised.value)


async def test_a_step_that_survives_being_broken_off() -> None:
    with pytest.raises(AssertionError, match="as if nothing had happened"):
        await check_step(Immortal())


@dataclass(frozen=True, kw_only=True)
class Asks(Step):
    """Ask a model."""

    kind: ClassVar[Kind] = "query_optimizer"
    reads: ClassVar[frozenset[str]] = frozenset({"question"})
    writes: ClassVar[frozenset[str]] = frozenset({"rewritten_query"})
    asks_llm: ClassVar[bool] = True
    leaves: ClassVar[str] = "The query as it was."

    llm: Any = None
    """Another language model than the run's."""

    async def __call__(self, context: Context, run: Run) -> Context:
        try:
            pieces = [piece async for piece in run.model(self.llm).stream(())]
        except LLMError:
            pieces = ["nothing"]
        return context.evolve(rewritten_query="".join(pieces))


async def test_a_model_that_fails_in_silence() -> None:
    with pytest.raises(AssertionError, match="What it works with failed"):
        await check_step(Asks(), services=NoLibrary(scripted("leave")))
    check_declaration(Asks())
