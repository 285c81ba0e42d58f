"""`Step`, the one declaration of a stage, and `Pipeline`, several of them as a value."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from functools import cached_property
from typing import Annotated, Any, ClassVar, Literal, Self, get_args

from pydantic import ConfigDict, Field

from refdesk.context import Context, Measure
from refdesk.errors import InputError, PipelineError, Problem
from refdesk.pipeline.checking import errors, missing_models, remarks
from refdesk.pipeline.run import Run
from refdesk.pipeline.workers import Bound, bind

Kind = Literal[
    "input_gate",
    "query_optimizer",
    "router",
    "retriever",
    "context_optimizer",
    "answer_generator",
    "quality_gate",
    "citation",
    "grounding",
    "closing",
    "memory",
    "control",
]
KINDS: tuple[Kind, ...] = get_args(Kind)
SPEAKING: frozenset[Kind] = frozenset({"answer_generator", "quality_gate"})
"""Kinds whose steps write text that a reader sees."""

OnError = Literal["stop", "continue", "fallback"]
"""`stop` ends the run; `continue` notes a warning and goes on; `fallback` is the old word for `continue`."""


@dataclass(frozen=True, kw_only=True)
class Step:
    """One stage of a pipeline: options as fields, work in `__call__`.

    From the fields come the constructor, YAML, the JSON Schema and the tables of the docs. `reads` names what
    a step looks at (also `query`, `queries`, `hits`), `writes` what it may change; the runner checks it.
    """

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid", use_attribute_docstrings=True)

    name: ClassVar[str] = ""
    """As it is written in YAML; made of the class's name where it is not given."""
    kind: ClassVar[Kind]
    reads: ClassVar[frozenset[str]] = frozenset()
    writes: ClassVar[frozenset[str]] = frozenset()
    after: ClassVar[tuple[Kind, ...]] = ()
    """A step of one of these kinds has to come before."""
    worker: ClassVar[str] = ""
    """The option that takes an implementation of one's own."""
    method: ClassVar[str] = ""
    """The one method of such an implementation."""
    asks_llm: ClassVar[bool] = False
    """Whether the built-in implementation needs a language model."""
    leaves: ClassVar[str] = ""
    """What the context holds when the step failed and the run goes on, in a sentence."""

    on_error: OnError = "stop"
    """`stop` ends the run with the error, `continue` notes a warning and goes on."""
    id: str = ""
    """Name of this step in traces, where the step's own would not do."""
    timeout: Annotated[float, Field(gt=0)] | None = None
    """Seconds after which the step has failed."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "name" not in vars(cls):
            cls.name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", cls.__name__).lower()

    def __new__(cls, *given: Any, **options: Any) -> Self:
        known = [one.name for one in fields(cls) if one.init]
        if given or (unknown := [name for name in options if name not in known]):
            raise unknown_option(cls.name, unknown[0] if not given else repr(given[0]), known)
        if not hasattr(cls, "kind"):
            raise InputError(f"The step {cls.name!r} has no kind.", remedy=f"One of: {', '.join(KINDS)}.")
        return super().__new__(cls)

    def __getstate__(self) -> dict[str, Any]:
        return {one.name: getattr(self, one.name) for one in fields(self)}

    def __post_init__(self) -> None:
        for one in fields(self):
            if isinstance(value := getattr(self, one.name), list):
                object.__setattr__(self, one.name, tuple(value))

    async def __call__(self, context: Context, run: Run) -> Context:
        raise NotImplementedError(f"The step {self.name!r} does nothing.")

    def __or__(self, other: "Step | Pipeline") -> "Pipeline":
        return Pipeline((self,)) | other

    @property
    def label(self) -> str:
        return self.id or self.name

    @property
    def speaks(self) -> bool:
        """Whether it, or a step inside it, writes text that a reader sees."""
        return self.kind in SPEAKING or any(step.speaks for block in self.blocks for step in block)

    @property
    def blocks(self) -> tuple[tuple["Step", ...], ...]:
        """The lists of steps inside it."""
        return ()

    @property
    def required(self) -> tuple[Kind, ...]:
        """Kinds of which one has to come before, with these options."""
        return self.after

    @property
    def needs_llm(self) -> bool:
        """Whether the run has to name a language model for it, with these options."""
        given = (getattr(self, name, None) for name in ("llm", self.worker) if name)
        return self.asks_llm and all(one is None for one in given)

    def skips(self, context: Context) -> str:
        """Say why there is nothing to do, empty where there is."""
        return ""

    def facts(self, context: Context) -> Mapping[str, Measure]:
        """Say in figures and names what the step is given, for telemetry."""
        return {}

    def problems(self) -> Iterator[tuple[str, str]]:
        """Yield a reason and a remedy for each thing that is wrong with these options beyond their types."""
        yield from ()

    def file_problems(self) -> Iterator[tuple[str, str]]:
        """Yield the same for files that the options name, as they are now: asked where a pipeline is read."""
        yield from ()

    @cached_property
    def work(self) -> Bound:
        """The implementation that was given, as an async function."""
        return bind(getattr(self, self.worker), self.method, self.name)


@dataclass(frozen=True)
class Pipeline:
    """Steps in order, as a value: it can be compared, reused, and run many times at once."""

    steps: tuple[Step, ...]
    name: str = field(default="", compare=False)
    """Where it comes from: a preset or a file."""

    def __post_init__(self) -> None:
        steps = tuple(self.steps) if isinstance(self.steps, Iterable) else (self.steps,)
        for one in steps:
            if not isinstance(one, Step):
                kind = one.__name__ if isinstance(one, type) else type(one).__name__
                raise InputError(
                    f"A pipeline is made of steps, and {one!r:.80} is none.",
                    remedy=f"Write {kind}()."
                    if isinstance(one, type)
                    else "Give instances of classes that inherit refdesk.Step.",
                )
        object.__setattr__(self, "steps", steps)

    def __or__(self, other: "Step | Pipeline") -> "Pipeline":
        if isinstance(other, Pipeline):
            return Pipeline((*self.steps, *other.steps))
        return Pipeline((*self.steps, other))

    async def run(self, context: Context, run: Run) -> Context:
        """Run all steps; an error of a step is `error` of the context that comes back.

        Errors: `PipelineError`, before the first step, with everything that is wrong.
        """
        if problems := self.problems(llm=run.services.llm(None) is not None):
            raise PipelineError(problems, name=self.name)
        with run.whole(self.name) as end:
            return end(await run.steps(self.steps, context, streams=True))

    def problems(self, *, llm: bool = True) -> tuple[Problem, ...]:
        """Return all that keeps it from running; `llm` says whether runs have a language model."""
        found = self._checked[0]
        return found if llm else (*found, *missing_models(self.steps))

    @property
    def remarks(self) -> tuple[Problem, ...]:
        """What should be looked at and does not keep it from running."""
        return self._checked[1]

    @cached_property
    def _checked(self) -> tuple[tuple[Problem, ...], tuple[Problem, ...]]:
        return errors(self.steps), remarks(self.steps)


def unknown_option(step: str, option: str, known: Iterable[str]) -> InputError:
    """Say that a step has no such option, and which one may be meant."""
    names = sorted(known)
    near = get_close_matches(option, names, 1)
    return InputError(
        f"The step {step!r} has no option {option!r}.",
        remedy=f"Did you mean {near[0]!r}?" if near else f"Its options: {', '.join(names)}.",
    )
