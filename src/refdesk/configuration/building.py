"""Entries of a file to steps. What cannot be built gets a stand-in, so that the rest is checked too."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from difflib import get_close_matches
from functools import cache
from typing import Any, get_args, get_origin, get_type_hints

from pydantic import ValidationError

from refdesk.configuration.names import Plugins, step_class
from refdesk.configuration.standins import StandIn, unknown
from refdesk.errors import Problem
from refdesk.pipeline import Step
from refdesk.pipeline.checking import errors, faulty_files, placed, remarks
from refdesk.pipeline.options import adapter, reasons_by_option
from refdesk.yamlvalues import Fault, Value

OWN_STEPS = "Steps of your own are given as `steps=`, or by a package as entry point `refdesk.steps`."


@dataclass(slots=True, kw_only=True)
class Builder:
    """Builds the steps of one file; keeps what is wrong with their entries, and on which lines they are."""

    steps: Plugins
    workers: Plugins
    wrong: list[tuple[Step, Fault]] = field(default_factory=list)
    lines: dict[int, int] = field(default_factory=dict)
    """The line of each step, by `id`: equal steps may be in a file twice."""

    def build(self, entries: Iterable[Value]) -> tuple[Step, ...]:
        return tuple(self._step(entry) for entry in entries)

    def problems(self, steps: tuple[Step, ...]) -> tuple[Problem, ...]:
        """Return all that is wrong with the steps, in order."""
        places = {id(step): position for position, step in placed(steps)}
        found = [
            Problem(
                position=places.get(id(step), ""),
                step=step.name,
                reason=fault.reason,
                remedy=fault.remedy,
                line=fault.line or self.lines[id(step)] or None,
            )
            for step, fault in self.wrong
        ]
        found += self._located((*errors(steps), *faulty_files(steps)), steps)
        return tuple(sorted(found, key=_by_position))

    def remarks(self, steps: tuple[Step, ...]) -> tuple[Problem, ...]:
        """Return what should be looked at, nothing where a step may be anything."""
        if any(isinstance(step, StandIn) and step.anything for _, step in placed(steps)):
            return ()
        return tuple(self._located(remarks(steps), steps))

    def _located(self, problems: Iterable[Problem], steps: tuple[Step, ...]) -> Iterator[Problem]:
        """Yield problems with their lines, without those that are about what a stand-in may be."""
        at = dict(placed(steps))
        guessed = [f"{place}." for place, step in at.items() if isinstance(step, StandIn) and step.anything]
        for problem in problems:
            if not any(problem.position.startswith(place) for place in guessed):
                step = at.get(problem.position)
                yield replace(problem, line=self.lines.get(id(step)) or None)

    def _step(self, entry: Value) -> Step:
        faults: list[Fault] = []
        step = self._built(entry, faults)
        self.lines[id(step)] = entry.line
        self.wrong += [(step, fault) for fault in faults]
        return step

    def _built(self, entry: Value, faults: list[Fault]) -> Step:
        name, options = _parted(entry, faults)
        kind = self._class(name, faults) if name else None
        if kind is None:
            for one in options.values():
                faults += one.everywhere()
            return unknown(name or "?")
        readable = not faults
        given = {option: self._given(kind, option, value, faults) for option, value in options.items()}
        step = self._validated(kind, given, options, faults) if readable else None
        return step or _stand_in(kind, name, given)

    def _class(self, name: str, faults: list[Fault]) -> type[Step] | None:
        """Return the class of a step, or that of the nearest name, after noting that there is none."""
        try:
            return step_class(self.steps, name)
        except ValueError as error:
            faults.append(Fault(0, f"It {error}.", "Mend or remove that package."))
            return None
        except KeyError:
            near = get_close_matches(name.lower().replace("-", "_"), self.steps, 1)
            hint = f"Did you mean {near[0]!r}?" if near else f"Known: {', '.join(self.steps)}. {OWN_STEPS}"
            faults.append(Fault(0, f"There is no step {name!r}.", hint))
            return self.steps.loaded.get(near[0]) if near else None

    def _given(self, kind: type[Step], option: str, value: Value, faults: list[Fault]) -> Any:
        if option not in step_fields(kind):
            faults += value.everywhere()
            return value.plain
        faults += value.faults
        if isinstance(value.data, list):
            return self.build(value.data)
        reason = f"Its option {option!r} is {value.plain!r:.60}."
        faults.append(Fault(value.line, reason, "Write a list of steps."))
        return ()

    def _validated(
        self, kind: type[Step], given: Mapping[str, Any], options: Mapping[str, Value], faults: list[Fault]
    ) -> Step | None:
        lines = {option: value.line for option, value in options.items()}
        inner = step_fields(kind)
        unread = {
            option
            for option, value in options.items()
            if (value.faults and value.data is None) or (option in inner and not isinstance(value.data, list))
        }
        usable = {option: value for option, value in given.items() if option not in unread}
        try:
            step: Step = adapter(kind).validate_python(usable, context={"workers": self.workers})
        except ValidationError as error:
            for option, reason, remedy in reasons_by_option(error, option_names(kind)):
                if option not in unread:
                    faults.append(Fault(lines.get(option, 0), reason, remedy))
            return None
        except Exception as error:  # a step of somebody else's may check its options itself
            said = str(error).rstrip(".")
            faults.append(Fault(0, f"It cannot be made: {said}.", "Change its options."))
            return None
        faults += [Fault(lines[option], *said) for option, said in _converted(step, usable, self.workers)]
        return step


def _parted(entry: Value, faults: list[Fault]) -> tuple[str, dict[str, Value]]:
    """Return the name and the options of an entry, the name empty where there is none."""
    if isinstance(entry.data, str):
        return entry.data, {}
    if not isinstance(entry.data, dict) or not entry.data:
        faults.append(
            Fault(0, f"It is {entry.plain!r:.60}.", "Write a step's name, or `name: {option: value}`.")
        )
        return "", {}
    (name, options), *others = entry.data.items()
    faults += entry.faults
    if others:
        more = ", ".join(repr(key) for key, _ in others)
        faults.append(
            Fault(0, f"Beside {name!r} it has {more}.", "Indent the options of a step below its name.")
        )
        return str(name), {}
    if options.data is not None and not isinstance(options.data, dict):
        faults.append(
            Fault(0, f"Its options are {options.plain!r:.60}.", "Write `option: value` below its name.")
        )
        return str(name), {}
    faults += options.faults
    return str(name), options.data or {}


def _stand_in(kind: type[Step], name: str, given: Mapping[str, Any]) -> Step:
    inner = tuple(given[one] for one in step_fields(kind) if given.get(one))
    own_id = given.get("id", "")
    return StandIn(
        written=name,
        stands=kind.kind,
        wanted=kind.after,
        inner=inner,
        id=own_id if isinstance(own_id, str) else "",
    )


def _converted(
    step: Step, given: Mapping[str, Any], workers: Plugins
) -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield the options whose values are of another type than they should be, such as '5' for 5."""
    for option, value in given.items():
        read = getattr(step, option)
        if isinstance(value, str | bool | int | float) and isinstance(read, str | bool | int | float):
            widened = type(value) is int and type(read) is float
            if type(read) is not type(value) and not widened and value not in workers:
                yield (
                    option,
                    (
                        f"Its option {option!r} is {value!r}.",
                        f"Write {json.dumps(read, ensure_ascii=False)}.",
                    ),
                )


def _step_fields(kind: type[Step]) -> tuple[str, ...]:
    hints = get_type_hints(kind)
    return tuple(name for name in option_names(kind) if _holds_steps(hints[name]))


step_fields: Callable[[Any], tuple[str, ...]] = cache(_step_fields)
"""Takes a step class, returns its options that hold steps."""


def _holds_steps(hint: Any) -> bool:
    held = get_args(hint)[0] if get_origin(hint) is tuple and get_args(hint) else None
    return isinstance(held, type) and issubclass(held, Step)


def option_names(kind: type[Step]) -> tuple[str, ...]:
    """Return the names of a step's options, its own before those that every step has."""
    names = [one.name for one in fields(kind) if one.init]
    shared = [one.name for one in fields(Step)]
    return (*(name for name in names if name not in shared), *shared)


def _by_position(problem: Problem) -> tuple[bool, list[str], int]:
    """Sort by position; what is about the whole comes last."""
    parts = [part.zfill(6) for part in problem.position.split(".")]
    return (not problem.position, parts, problem.line or 0)
