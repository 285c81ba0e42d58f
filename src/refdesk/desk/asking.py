"""One question through a pipeline: what a run is given, and the answer that comes of it."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any

from refdesk.context import Context, Turn
from refdesk.conversations.kept import check_name, key_of
from refdesk.desk.calls import CallServices
from refdesk.desk.given import texts
from refdesk.desk.seeing import asking
from refdesk.desk.services import Services
from refdesk.documents import Scope
from refdesk.errors import InputError, PipelineError
from refdesk.events import Sink
from refdesk.filters import Filters, as_filter
from refdesk.pipeline import LLMValue, Pipeline, Run, Step
from refdesk.pipeline.checking import own_problems
from refdesk.principals import Principals
from refdesk.settings import Settings
from refdesk.telemetry import tell

ALL = "all"
COLLECTIONS = "The collections"
TURN = "Write ('user', 'What ...?') or {'role': 'user', 'content': 'What ...?'}."
Collections = str | Sequence[str] | None
History = Sequence[Turn | Mapping[str, str] | tuple[str, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """What a call changes of a run."""

    settings: Settings
    llm: LLMValue = None

    def run(
        self,
        services: Services,
        principals: tuple[str, ...],
        sinks: Sequence[Sink] = (),
        named: tuple[str, ...] = (),
    ) -> Run:
        """Return a run that reads for those who ask, and nothing for anyone else."""
        given = CallServices(
            desk=services, settings=self.settings, given=self.llm, named=named, principals=principals
        )
        return Run(
            services=given,
            collections=named,
            sinks=(tell, *services.listeners, *sinks),
            deadline=self.settings.seconds or math.inf,
        )


async def begin(
    services: Services,
    settings: Settings,
    question: str,
    *,
    collections: Collections,
    filters: Filters,
    history: History,
    conversation: str,
    user: str,
    principals: Principals,
) -> Context:
    """Return the context that a run begins with. Errors: `InputError`, `NotFound`."""
    if not isinstance(question, str) or not question.strip():
        raise InputError(f"The question is {question!r:.80}; it has to be text that is not blank.")
    check_name("user", user)
    context = Context(
        question=question,
        history=_turns(history),
        conversation=conversation,
        user=user,
        collections=await named(services, settings, collections),
        principals=asking(settings, principals),
        filter=as_filter(filters),
    )
    if conversation != "":
        key_of(context)
    return context


def refuse_others(context: Context, settings: Settings, principals: Principals) -> None:
    """Refuse to go on with what was found for one as another. Errors: `InputError`."""
    if principals is not None and set(asking(settings, principals)) != set(context.principals):
        raise InputError(
            f"The call asks as {principals!r:.80}, and the context was begun as {context.principals!r:.80}.",
            remedy="Begin anew: desk.start(question, principals=...).",
        )


async def named(services: Services, settings: Settings, collections: Collections) -> tuple[str, ...]:
    """Return the collections that a call names: the settings' one for None, every one for `all`."""
    if collections == ALL:
        return tuple(one.name for one in await (await services.store()).collections())
    if collections is None:
        return (settings.collection,)
    return texts(collections, COLLECTIONS)


def scope_of(settings: Settings, collections: Collections, principals: Principals) -> Scope:
    """Return who reads, and where: the settings' collection for None. Errors: `InputError`."""
    where = (settings.collection,) if collections is None else texts(collections, COLLECTIONS)
    return Scope(where, asking(settings, principals))


def _turns(history: Any) -> tuple[Turn, ...]:
    if not isinstance(history, Iterable):
        raise InputError(f"The history is {history!r:.80}; a list of turns is allowed.", remedy=TURN)
    return tuple(_turn(one) for one in history)


def _turn(given: Any) -> Turn:
    """Read a turn: a `Turn`, `("user", text)`, or the mapping of chat APIs with role and content."""
    role, text = "", None
    if isinstance(given, Turn):
        role, text = given.role, given.text
    elif isinstance(given, Mapping):
        role, text = given.get("role", ""), given.get("content", given.get("text"))
    elif isinstance(given, tuple) and len(given) == 2:
        role, text = given
    if role not in ("user", "assistant") or not isinstance(text, str):
        raise InputError(
            f"The history has {given!r:.100}; a turn has a role, user or assistant, and a text.",
            remedy=TURN,
        )
    return Turn("user" if role == "user" else "assistant", text)


def as_pipeline(given: Any, load: Callable[[str | PathLike[str]], Pipeline]) -> Pipeline:
    """Return a pipeline for a pipeline, a step, several in a list, a preset's name or a file."""
    if isinstance(given, Pipeline):
        return given
    if isinstance(given, Step):
        return Pipeline((given,))
    if isinstance(given, list | tuple):
        return Pipeline(tuple(given))
    if isinstance(given, str | PathLike):
        return load(given)
    raise InputError(
        f"{given!r:.80} is no pipeline.",
        remedy="Give a pipeline, a step (with brackets: Search()), a preset's name, or a YAML file.",
    )


def as_step(step: Any, context: Any) -> Step:
    """Return a step that may work on a context. Errors: `InputError` where either is something else."""
    if not isinstance(step, Step):
        raise InputError(
            f"{step!r:.80} is no step.",
            remedy="Write desk.step(Search(), context); desk.run takes pipelines.",
        )
    if not isinstance(context, Context):
        raise InputError(
            f"{context!r:.80} is no context.",
            remedy="Take one that desk.run returned, or make one with desk.start(question).",
        )
    if problems := tuple(own_problems(step)):
        raise PipelineError(problems)
    return step
