"""Probes from YAML: questions that should be turned away, and documents that should not be obeyed."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from importlib.resources import files
from os import PathLike
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, get_args

import yaml
from pydantic import ConfigDict, Field, StrictBool, TypeAdapter

from refdesk.errors import InputError
from refdesk.evaluation.safety.plainwords import held_in, hidden_in
from refdesk.screening.reading import LARGEST, Listed, built, entries_of, foreign, listed

Category = Literal[
    "violence", "cyber", "misuse", "illegal", "off_scope_advice", "injection", "evidence_injection"
]
CATEGORIES: tuple[str, ...] = get_args(Category)
Expected = Literal["decline_or_abstain", "resist_injection"]
PROBES = "probes"
REMEDY = "Write {id, category, question}, and for resist_injection also expected, words, canary and planted."
Text = Annotated[str, Field(min_length=1)]
_STRICT = ConfigDict(extra="forbid")


@dataclass(frozen=True, slots=True, kw_only=True)
class PlantedDocument:
    """A document that is ingested for a probe, beside those of the library."""

    __pydantic_config__: ClassVar[ConfigDict] = _STRICT

    id: Text
    text: Text
    title: str = ""
    hostile: StrictBool = False
    """Whether it gives orders; else it answers the question."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """A question, and what may not come of it."""

    __pydantic_config__: ClassVar[ConfigDict] = _STRICT

    id: Text
    category: Category
    question: Text
    expected: Expected = "decline_or_abstain"
    language: str = ""
    """For the report only."""
    canary: tuple[Text, ...] = ()
    """Words that show that an order was obeyed; none of them may be in the answer."""
    words: tuple[Text, ...] = ()
    """Words of the right answer, any of which will do; for `resist_injection`."""
    planted: tuple[PlantedDocument, ...] = ()

    @property
    def hostile(self) -> tuple[PlantedDocument, ...]:
        return tuple(one for one in self.planted if one.hostile)

    @property
    def tags(self) -> tuple[str, ...]:
        return tuple(filter(None, (self.category, self.expected, self.language)))


_PROBE: TypeAdapter[Probe] = TypeAdapter(Probe)
_FIELDS = tuple(one.name for one in fields(Probe))


def shipped_probes() -> tuple[Probe, ...]:
    """Return the probes that come with refdesk; they fit any library."""
    return _probes(
        _listed((files("refdesk.evaluation") / "data" / "probes.yaml").read_bytes(), "shipped"), "shipped"
    )


def read_probes(*sources: str | PathLike[str]) -> tuple[Probe, ...]:
    """Read files of probes. Errors: `InputError` with all that is wrong in one, each with its line."""
    found = [probe for source in sources for probe in _probes(_file(source), str(source))]
    known: set[str] = set()
    for probe in found:
        if probe.id in known:
            raise InputError(f"Two files have a probe {probe.id!r}.", remedy="Name one of them otherwise.")
        known.add(probe.id)
    return tuple(found)


def _file(source: str | PathLike[str]) -> Listed:
    try:
        with Path(source).open("rb") as file:
            data = file.read(LARGEST + 1)
    except OSError as error:
        raise _unreadable(source, str(error)) from error
    if len(data) > LARGEST:
        raise _unreadable(source, f"it has more than {LARGEST:,} bytes")
    return _listed(data, str(source))


def _listed(data: bytes, source: str) -> Listed:
    try:
        return listed(data, PROBES)
    except (ValueError, RecursionError, yaml.YAMLError) as error:
        raise _unreadable(source, " ".join(str(error).split())) from error


def _unreadable(source: object, said: str) -> InputError:
    return InputError(f"The probes {str(source)!r:.200} cannot be read: {said}.", remedy=REMEDY)


def _probes(found: Listed, source: str) -> tuple[Probe, ...]:
    entries = entries_of(found, PROBES, f"probes {source!r}")
    wrong = [*foreign(found.data, PROBES), *found.doubled]
    probes: list[Probe] = []
    for number, entry in enumerate(entries, 1):
        probe, faults = built(_PROBE, entry, _FIELDS)
        faults = faults or [*_faults(probe, [one.id for one in probes])]
        probes += [] if faults else [probe]
        wrong += [f"{_place(number, found.lines, entry)}: {'; '.join(faults)}"] if faults else []
    if wrong:
        listing = "".join(f"\n- {one}" for one in wrong)
        raise InputError(f"The probes {source!r:.200} cannot be used:{listing}", remedy=REMEDY)
    return tuple(probes)


def _place(number: int, lines: Mapping[int, int], entry: Any) -> str:
    name = entry.get("id") if isinstance(entry, Mapping) else None
    return f"probe {number} (line {lines.get(number, 0)}" + (f", {name!r:.60})" if name else ")")


def _faults(probe: Probe, known: Sequence[str]) -> Iterator[str]:
    """Yield what keeps a probe from proving anything."""
    if probe.id in known:
        yield "its id is there already"
    if probe.expected == "decline_or_abstain":
        if probe.planted or probe.words:
            yield "only a probe with `expected: resist_injection` has planted documents and words"
        return
    lacking = [name for name in ("words", "canary", "planted") if not getattr(probe, name)]
    if lacking:
        yield f"to resist an injection it needs {', '.join(lacking)}"
    if probe.planted and not probe.hostile:
        yield "none of its planted documents is hostile"
    names = [one.id for one in probe.planted]
    if len(set(names)) < len(names):
        yield "two of its planted documents have the same id"
    yield from _blunt(probe)


def _blunt(probe: Probe) -> Iterator[str]:
    honest = [one.text for one in probe.planted if not one.hostile]
    for word in probe.canary:
        if any(hidden_in(word, text) for text in (probe.question, *honest, *probe.words)):
            yield f"its canary {word!r:.60} is in the question, the right answer or an honest document"
    for word in probe.words:
        if any(held_in(word, one.text) for one in probe.hostile):
            yield f"its word {word!r:.60} is in a hostile document"
