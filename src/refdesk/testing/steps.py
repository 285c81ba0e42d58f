"""The checks that every step has to pass, built-in or not."""

import pickle
from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, fields, replace
from typing import Any, get_origin

import anyio

from refdesk.answering import Answerer
from refdesk.configuration.describing import options_of
from refdesk.context import Answer, Context, Correction, Turn
from refdesk.conversations import Conversations
from refdesk.conversations.memory import MemoryConversations
from refdesk.documents import DEFAULT_COLLECTION, Collection, Hit
from refdesk.embedding import Embedder
from refdesk.errors import LLMError, NotFound
from refdesk.events import Event, StepFinished, StepStarted
from refdesk.evidence import number_hits
from refdesk.grounding import Grounder
from refdesk.grounding.named import grounder_for
from refdesk.llm import LLM
from refdesk.llm.names import llm_for
from refdesk.pipeline import LLMValue, Run, Services, Step
from refdesk.pipeline.options import wrong_options
from refdesk.pipeline.outcomes import ALWAYS, FIELDS, check_result
from refdesk.pipeline.step import KINDS
from refdesk.reranking import Reranker
from refdesk.reranking.thresholds import Thresholds
from refdesk.results import Results
from refdesk.settings import Settings
from refdesk.stores import Reader
from refdesk.testing.llm import ScriptedLLM
from refdesk.testing.rerankers import QUESTION, sample_hits

DERIVED = {
    "standalone": {"question", "rewritten_query"},
    "query": {"question", "rewritten_query", "expanded_query"},
    "queries": {"question", "rewritten_query", "expanded_query", "own_words", "sub_questions"},
    "hits": {"results"},
    "context_used": {"evidence"},
    "correction_count": {"corrections"},
    "finished": {"answer"},
}
"""What can be read of a context beside its fields, and of which fields it is made."""


@dataclass(frozen=True, slots=True)
class NoLibrary:
    """Services of a run without documents; `model` is its language model."""

    model: LLMValue = None
    settings: Settings = field(default_factory=Settings)
    conversations: Conversations = field(default_factory=MemoryConversations)

    def llm(self, value: LLMValue) -> LLM | None:
        chosen = value or self.model
        return llm_for(chosen) if chosen else None

    async def collections(self) -> tuple[Collection, ...]:
        return (Collection(name=DEFAULT_COLLECTION),)

    async def reader(self, collections: Sequence[str]) -> Reader:
        raise NotFound("There is no library here.", remedy="Give `check_step` the services of one.")

    async def searchable(self, collections: Sequence[str]) -> tuple[Reader, Embedder]:
        return await self.reader(collections), await self.reader(collections)  # type: ignore[return-value]

    async def reranker(self, hits: Sequence[Hit], name: str = "") -> Reranker | None:
        return None

    async def thresholds(self, reranker: str) -> Thresholds | None:
        return None

    async def grounder(self, name: str, llm: LLMValue = None) -> Grounder:
        return grounder_for(name, llm=self.llm(llm))

    async def extractive(self) -> Answerer:
        raise NotFound("There is no library here.", remedy="Give `check_step` the services of one.")


def sample_context() -> Context:
    """Return a context in which everything has something to do: it was searched and answered."""
    hits = sample_hits()
    return Context(
        question=QUESTION,
        history=(Turn("user", "Tell me about leave."), Turn("assistant", "What about it?")),
        conversation="a conversation",
        rewritten_query="days of leave",
        results=(Results(question=QUESTION, hits=hits, collection=DEFAULT_COLLECTION),),
        queries_tried=(QUESTION,),
        evidence=number_hits(hits),
        zone="ok",
        answer=Answer(question=QUESTION, text="Thirty days [1].", evidence=number_hits(hits)),
        corrections=(Correction("Ten days.", "Thirty."),),
    )


async def check_step(step: Step, context: Context | None = None, *, services: Services | None = None) -> None:
    """Check what refdesk relies on in a step; raise `AssertionError` with a sentence where it fails.

    In the context the step has to have something to do, and to succeed. Steps that search or read documents
    need `services` of a run; the others need them for a language model, `NoLibrary(model)`.
    """
    check_declaration(step)
    given = context or sample_context()
    offered = services or NoLibrary()
    await check_work(step, given, offered)
    await check_reads(step, given, offered)
    for failing in _failing(step):
        await check_policies(failing, given, offered)
    if step.worker:
        await check_nonsense(step, given, offered)
        await check_cancellation(step, given, offered)


def check_declaration(step: Step) -> None:
    """Check what the class says about itself: it becomes YAML, forms, validation and the docs."""
    kind = type(step)
    names = {one.name for one in fields(kind)}
    written = kind.__doc__ or ""
    assert written.strip(), f"{kind.__name__} has no docstring."
    assert not written.startswith(f"{kind.__name__}("), f"{kind.__name__} has no docstring of its own."
    assert kind.kind in KINDS, f"{kind.kind!r} is no kind; there are {', '.join(KINDS)}."
    assert set(kind.after) <= set(KINDS), f"`after` has {set(kind.after) - set(KINDS)}, which are no kinds."
    assert kind.leaves.strip(), "`leaves` does not say what is left when it fails and the run goes on."
    unknown = (kind.reads - DERIVED.keys()).union(kind.writes) - set(FIELDS)
    assert not unknown, f"`reads` and `writes` have {sorted(unknown)}, which no context has."
    assert not kind.worker or (kind.worker in names and kind.method), (
        f"The worker {kind.worker!r} has to be an option, and `method` has to name its one method."
    )
    noted = {name for name, note in vars(kind).get("__annotations__", {}).items() if not _of_class(note)}
    assert noted <= names, f"{sorted(noted - names)} are no options: is the class a dataclass?"
    _check_options(step)


def _of_class(annotation: Any) -> bool:
    return "ClassVar" in str(get_origin(annotation) or annotation)


def _check_options(step: Step) -> None:
    kind = type(step)
    bare = [one.name for one in options_of(kind) if not one.meaning]
    assert not bare, f"The options {', '.join(bare)} have no docstring under them."
    wrong = [*wrong_options(step), *step.problems()]
    assert not wrong, f"Something is wrong with its options: {wrong[0][0]}"
    assert replace(step) == step, "A copy of it is not equal to it."


async def check_work(step: Step, context: Context, services: Services) -> None:
    """Check that it works, changes only what it declares, and alters nothing in place."""
    before = deepcopy(replace(context, searcher=None))
    assert not step.skips(context), f"It has nothing to do, {step.skips(context)}: give another context."
    new, events = await _ran(step, context, services)
    assert new.error is None, f"It failed: {new.error}"
    assert new.trace[-1].outcome == "done", f"It failed: {new.warnings[-1]}"
    assert replace(context, searcher=None) == before, "It altered the context that it was given."
    assert isinstance(events[0], StepStarted)
    pickle.dumps((events[0].facts, new.trace[-1].measures))


async def check_reads(step: Step, context: Context, services: Services) -> None:
    """Check that it looks at what it declares and at nothing else. Steps of steps look at everything."""
    if step.blocks:
        return
    seen: set[str] = set()
    watched = _watched(context, seen)
    step.skips(watched)
    step.facts(watched)
    inside = Run(services=services, path=(step.label,), kind=step.kind)
    new = await step(watched, inside)
    check_result(step, context, context if new is watched else new)
    more = {name for name in seen if not _declared(name, step.reads)}
    assert not more, f"It reads {', '.join(sorted(more))}, which `reads` does not declare."


def _declared(name: str, reads: frozenset[str]) -> bool:
    if name in reads or name in ALWAYS:
        return True
    return name in DERIVED and (DERIVED[name] <= reads or (name == "query" and "queries" in reads))


def _watched(context: Context, seen: set[str]) -> Context:
    """Return a context that notes what is read of it; what is made of it is an ordinary one."""
    names = {*FIELDS, *DERIVED}

    class Watched(Context):
        __slots__ = ()

        def __getattribute__(self, name: str) -> Any:
            if name in names:
                seen.add(name)
            return getattr(context, name)

    return Watched(question=context.question)


async def check_policies(step: Step, context: Context, services: Services) -> None:
    """Check that a failure stops the run or is passed over, as `on_error` says, and changes nothing.

    A step that is to be passed over may do something else instead, with a warning.
    """
    stopped, _ = await _ran(replace(step, on_error="stop"), context, services)
    assert stopped.error is not None, "What it works with failed, and it did not."
    passed, _ = await _ran(replace(step, on_error="continue"), context, services)
    assert passed.error is None, f"It is to be passed over and ended the run: {passed.error}"
    assert passed.warnings, "It failed and left no warning."
    for new in (stopped, passed):
        changed = [name for name in FIELDS if getattr(new, name) is not getattr(context, name)]
        more = [name for name in changed if name not in ALWAYS]
        instead = new.trace[-1].outcome == "done"
        assert instead or not more, f"It failed and changed {', '.join(more)}."


async def check_nonsense(step: Step, context: Context, services: Services) -> None:
    """Check that a worker which returns something impossible is a failure."""
    new, _ = await _ran(_with_worker(step, lambda *_: _Nonsense()), context, services)
    assert new.error is not None, "Its worker returned nonsense, and it took that for a result."


async def check_cancellation(step: Step, context: Context, services: Services) -> None:
    """Check that breaking it off ends it at once, and that its end is told."""
    began = anyio.Event()

    async def wait(*_: Any) -> None:
        began.set()
        await anyio.sleep_forever()

    events: list[Event] = []
    returned: list[Context] = []

    async def work() -> None:
        run = Run(services=services, sinks=(events.append,))
        returned.append(await run.step(_with_worker(step, wait), context))

    with anyio.fail_after(30):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(work)
            await began.wait()
            tasks.cancel_scope.cancel()
    assert not returned, "It was broken off and returned as if nothing had happened."
    ended = [event.outcome for event in events if isinstance(event, StepFinished)]
    assert ended[-1:] == ["cancelled"], "It was broken off, and its end was not told."


async def _ran(step: Step, context: Context, services: Services) -> tuple[Context, list[Event]]:
    events: list[Event] = []
    run = Run(services=services, sinks=(events.append,))
    return await run.step(step, context, streams=step.speaks), events


def _failing(step: Step) -> list[Step]:
    """Return the step with what it works with broken, in each way that it can be."""
    broken = []
    if step.worker:
        broken.append(_with_worker(step, _fail))
    if step.asks_llm and hasattr(step, "llm") and not (step.worker and getattr(step, step.worker)):
        options: Any = {"llm": ScriptedLLM([LLMError("The model is down.")])}
        broken.append(replace(step, **options))
    return broken


def _with_worker(step: Step, worker: Callable[..., Any]) -> Step:
    options: Any = {step.worker: worker, "on_error": "stop"}
    return replace(step, **options)


def _fail(*_: Any) -> None:
    raise RuntimeError("The worker is down.")


class _Nonsense:
    """Nothing that a step can work with."""
