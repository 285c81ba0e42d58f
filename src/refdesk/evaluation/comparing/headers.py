"""What two runs did differently: settings, options, versions, lines of the pipeline."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import unified_diff
from typing import Any

from refdesk.evaluation.runs.outcomes import RunHeader

PLAIN = ("data", "split", "data_digest", "cases", "pipeline", "seed")
NESTED = ("settings", "options", "versions")
USUAL = "the default"


@dataclass(frozen=True, slots=True, kw_only=True)
class HeaderDifference:
    """One thing that differs."""

    what: str
    """Such as `settings.chunk_size`."""
    a: str
    b: str


def header_differences(a: RunHeader, b: RunHeader) -> tuple[HeaderDifference, ...]:
    """Return what differs, but for names and times; lines of pipelines are in `pipeline_changes`."""
    first, second = dict(_flat(a)), dict(_flat(b))
    return tuple(
        HeaderDifference(what=name, a=first.get(name, _missing(name)), b=second.get(name, _missing(name)))
        for name in dict.fromkeys([*first, *second])
        if first.get(name) != second.get(name)
    )


def pipeline_changes(a: RunHeader, b: RunHeader) -> tuple[str, ...]:
    """Return the lines that differ, with a line around them; the first words say of what."""
    first, second = (one.pipeline_yaml.splitlines() for one in (a, b))
    found = unified_diff(first, second, fromfile=a.name, tofile=b.name, n=1, lineterm="")
    return tuple(line for line in found if not line.startswith("@@"))


def _flat(header: RunHeader) -> Iterator[tuple[str, str]]:
    for name in PLAIN:
        yield name, str(getattr(header, name))
    for name in NESTED:
        yield from _entries(name, getattr(header, name))


def _entries(name: str, value: Any) -> Iterator[tuple[str, str]]:
    """Go through the leaves of nested mappings."""
    if not isinstance(value, Mapping):
        yield name, ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
        return
    for key, one in value.items():
        yield from _entries(f"{name}.{key}", one)


def _missing(name: str) -> str:
    return USUAL if name.startswith("settings.") else "none"
