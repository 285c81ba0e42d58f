"""Entries of a file to steps. What cannot be built becomes a placeholder, so that the rest is checked too."""

from collections.abc import Iterator
from dataclasses import dataclass, field, fields, replace
from difflib import get_close_matches
from typing import Any, ClassVar

from pydantic import ValidationError

from refdesk.configuration.names import Names
from refdesk.configuration.reading import Value
from refdesk.errors import Problem
from refdesk.pipeline import Kind, Step
from refdesk.pipeline.options import adapter, reasons


@dataclass(slots=True)
class Built:
    """Steps, what was wrong with their entries, and on which line each position begins."""

    names: Names
    problems: list[Problem] = field(default_factory=list)
    lines: dict[str, int] = field(default_factory=dict)

    def steps(self, entries: Value, within: str = "") -> tuple[Step, ...]:
        """Build the steps of a list."""
        if not isinstance(entries.data, list):
            where = within.rstrip(".")
            self._wrong(where, "steps", f"Its steps are {entries.plain!r:.60}.", "Write a list.", entries)
            return ()
        return tuple(self._step(one, f"{within}{n}") for n, one in enumerate(entries.data, 1))

    def _step(self, entry: Value, position: str) -> Step:
        self.lines[position] = entry.line
        name, options = _parted(entry)
        if name is None or options is None:
            self._wrong(
                position,
                str(name or "?"),
                f"It is {entry.plain!r:.80}.",
                "Write the name of a step, or {name: {option: value}}.",
                entry,
            )
            return placeholder("?", "control")
        kind = self._class(name, position, entry)
        if kind is None:
            near = get_close_matches(name, self.names.steps, 1)
            return placeholder(name, self.names.steps[near[0]].kind if near else "control")
        return self._with_options(kind, options, position, entry)

    def _class(self, name: str, position: str, entry: Value) -> type[Step] | None:
        try:
            kind = self.names.step(name)
        except Exception as error:
            self._wrong(position, name, f"It cannot be loaded: {error}.", "Mend its package.", entry)
            return None
        if kind is None:
            near = get_close_matches(name, self.names.all_steps, 1)
            known = ", ".join(sorted(self.names.all_steps))
            hint = f"Did you mean {near[0]!r}?" if near else f"Known: {known}."
            self._wrong(position, name, f"There is no step {name!r}.", hint, entry)
        return kind

    def _with_options(self, kind: type[Step], options: dict[str, Value], position: str, entry: Value) -> Step:
        blocks = block_fields(kind)
        given: dict[str, Any] = {}
        for name, value in options.items():
            if name in blocks and value.data is not None:
                given[name] = self.steps(value, f"{position}.{_letter(name, blocks, options)}")
            else:
                given[str(name)] = value.plain
        try:
            built: Step = adapter(kind).validate_python(given, context={"workers": self.names.workers})
            return built
        except ValidationError as error:
            known = [one.name for one in fields(kind) if one.init]
            for reason, remedy in reasons(error, known):
                self._wrong(position, kind.name, reason, remedy, entry)
        inner = tuple(given[name] for name in blocks if isinstance(given.get(name), tuple))
        return placeholder(kind.name, kind.kind, kind.after, inner)

    def _wrong(self, position: str, step: str, reason: str, remedy: str, at: Value) -> None:
        self.problems.append(
            Problem(position=position, step=step, reason=reason, remedy=remedy, line=at.line or None)
        )

    def placed(self, problems: tuple[Problem, ...]) -> Iterator[Problem]:
        """Yield problems with the lines of their steps."""
        for problem in problems:
            yield replace(problem, line=self.lines.get(problem.position) or None)


def _parted(entry: Value) -> tuple[str | None, dict[str, Value] | None]:
    """Return the name and the options of an entry, None for what is not there."""
    if isinstance(entry.data, str):
        return entry.data, {}
    if not isinstance(entry.data, dict) or len(entry.data) != 1:
        return None, None
    [(name, options)] = entry.data.items()
    if not isinstance(name, str):
        return None, None
    if options.data is None:
        return name, {}
    return name, options.data if isinstance(options.data, dict) else None


def block_fields(kind: type[Step]) -> tuple[str, ...]:
    """Return the options of a step class that hold steps."""
    return tuple(one.name for one in fields(kind) if "Step, ...]" in str(one.type))


def _letter(name: str, blocks: tuple[str, ...], options: dict[str, Value]) -> str:
    """Return what stands before the numbers of a block: nothing for the only one, else a letter."""
    used = [one for one in blocks if options.get(one) is not None and options[one].data]
    return "" if len(used) < 2 else "ab"[blocks.index(name)]


def placeholder(
    name: str, kind: Kind, after: tuple[Kind, ...] = (), blocks: tuple[tuple[Step, ...], ...] = ()
) -> Step:
    """Return a step that stands for one that could not be built; it never runs."""

    @dataclass(frozen=True, kw_only=True)
    class Placeholder(Step):
        """Stands for a step that could not be built."""

        name: ClassVar[str] = ""
        kind: ClassVar[Kind] = "control"

        @property
        def blocks(self) -> tuple[tuple[Step, ...], ...]:
            return blocks

    Placeholder.name, Placeholder.kind, Placeholder.after = name, kind, after
    return Placeholder()
