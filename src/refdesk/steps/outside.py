"""Passages that a searcher of the user's own found, as hits."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime
from functools import cache
from typing import Annotated, Any

from pydantic import Field, StrictBool, StrictFloat, StrictInt, StrictStr, TypeAdapter, ValidationError

from refdesk.context import Searcher
from refdesk.documents import Chunk, Hit
from refdesk.errors import StepError
from refdesk.filters import Filter
from refdesk.filters.meaning import matches
from refdesk.pipeline import Services, Step
from refdesk.pipeline.workers import Bound
from refdesk.results import numbered
from refdesk.steps.claims import readable

Name = StrictStr | StrictInt
Value = StrictBool | StrictInt | StrictFloat | StrictStr | datetime
Number = Annotated[float, Field(allow_inf_nan=False)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """What a searcher may tell of a passage. Other keys are ignored, null stands for an absent one."""

    id: Name
    text: StrictStr
    document_id: Name | None = None
    title: StrictStr | None = None
    url: StrictStr | None = None
    source_id: Name | None = None
    score: Number | None = None
    metadata: Mapping[str, Value | tuple[Value, ...] | None] = field(default_factory=dict)
    page: Annotated[int, Field(ge=1)] | None = None
    start: Annotated[int, Field(ge=0)] = 0


REQUIRED = ("id", "text")
ALLOWED = f"id, text, and where it has them {', '.join([f.name for f in fields(Passage)][2:])}"


@dataclass(frozen=True, slots=True)
class Described:
    """A hit as a filter sees it."""

    hit: Hit
    media_type: str = ""
    language: str = ""

    @property
    def metadata(self) -> Any:
        return self.hit.metadata

    @property
    def source_id(self) -> str:
        return self.hit.source_id

    @property
    def document_id(self) -> str:
        return self.hit.chunk.document_id

    @property
    def title(self) -> str:
        return self.hit.title

    @property
    def url(self) -> str | None:
        return self.hit.url


def own_searcher(work: Bound, filter: Filter | None, step: Step, services: Services) -> Searcher:
    """Return a searcher of the user's own whose hits also pass the filter of the call.

    What it returns of the library has to be readable for those who ask, see `claims`.
    """

    async def search(query: str, collection: str) -> tuple[Hit, ...]:
        found = passing(hits_of(await work(query, collection), collection, step), filter)
        return await readable(services, found)

    return search


def passing(hits: tuple[Hit, ...], filter: Filter | None) -> tuple[Hit, ...]:
    """Return the hits that pass a filter, by what is known of them."""
    return hits if filter is None else numbered([hit for hit in hits if matches(filter, Described(hit))])


def hits_of(found: Any, collection: str, step: Step) -> tuple[Hit, ...]:
    """Return hits with ranks, in the order in which they came. Errors: `StepError` for anything else."""
    if isinstance(found, str | bytes | Mapping) or not isinstance(found, Iterable):
        raise _nonsense(found, step)
    hits = [one if isinstance(one, Hit) else _hit(one, collection, step) for one in found]
    return numbered(hits)


def _hit(found: Any, collection: str, step: Step) -> Hit:
    passage = _passage(found, step)
    name = str(passage.id)
    document = name if passage.document_id is None else str(passage.document_id)
    chunk = Chunk(
        chunk_id=name,
        document_id=document,
        collection=collection,
        position=0,
        start=passage.start,
        end=passage.start + len(passage.text),
        text=passage.text,
        page=passage.page,
    )
    return Hit(
        chunk=chunk,
        title=passage.title or document,
        url=passage.url,
        source_id=document if passage.source_id is None else str(passage.source_id),
        metadata={key: value for key, value in passage.metadata.items() if value is not None},
        fused_score=passage.score,
    )


def _passage(found: Any, step: Step) -> Passage:
    if not isinstance(found, Mapping) or any(found.get(name) is None for name in REQUIRED):
        raise _nonsense(found, step)
    known = {one.name for one in fields(Passage)}
    given = {key: value for key, value in found.items() if key in known and value is not None}
    try:
        return _adapter().validate_python(given)
    except ValidationError as error:
        wrong = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in wrong["loc"][:2])
        raise _nonsense(found, step, f" Its {where} is {wrong['input']!r:.60}: {wrong['msg']}.") from error


@cache
def _adapter() -> TypeAdapter[Passage]:
    return TypeAdapter(Passage)


def _nonsense(found: Any, step: Step, detail: str = "") -> StepError:
    return StepError(
        f"The searcher returned {found!r:.80}; allowed is a list of hits, or of mappings with {ALLOWED}."
        f"{detail}",
        step=step.label,
        remedy="Return such a list, empty where nothing was found.",
    )
