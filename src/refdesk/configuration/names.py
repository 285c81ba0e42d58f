"""The steps and implementations that a pipeline file may name: built-in, given, or of installed packages."""

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from refdesk.errors import InputError
from refdesk.pipeline import Step
from refdesk.steps import BUILTIN

STEPS_GROUP, WORKERS_GROUP = "refdesk.steps", "refdesk.workers"
"""Groups of entry points by which installed packages offer steps and implementations."""


class Plugins(Mapping[str, Any]):
    """What is given by name, and what installed packages offer in a group, loaded when it is asked for.

    Packages are looked through only for a name that is not given. Errors: `ValueError` for what cannot be
    loaded.
    """

    def __init__(self, group: str, given: Mapping[str, Any]) -> None:
        self.group = group
        self.loaded = dict(given)

    @cached_property
    def offered(self) -> Mapping[str, EntryPoint]:
        return {one.name: one for one in entry_points(group=self.group)}

    def __getitem__(self, name: str) -> Any:
        if name not in self.loaded:
            self.loaded[name] = _load(self.offered[name])
        return self.loaded[name]

    def __contains__(self, name: object) -> bool:
        return name in self.loaded or name in self.offered

    def __iter__(self) -> Iterator[str]:
        return iter((*self.loaded, *(name for name in self.offered if name not in self.loaded)))

    def __len__(self) -> int:
        return len(list(iter(self)))


def known_steps(given: Iterable[type[Step]] = ()) -> Plugins:
    """Return the steps that files may name. Errors: `InputError` for what is no step, or takes a name."""
    known = {one.name: one for one in BUILTIN}
    for one in given:
        if not (isinstance(one, type) and issubclass(one, Step)):
            raise InputError(f"{one!r:.60} is given as a step and is none.", remedy="Give classes of steps.")
        if known.setdefault(one.name, one) is not one:
            raise InputError(
                f"The step {one.__name__} has the name {one.name!r}, which another step has.",
                remedy="Give it another one: `name: ClassVar[str] = ...`.",
            )
    return Plugins(STEPS_GROUP, known)


def known_workers(given: Mapping[str, Any] | None = None) -> Plugins:
    """Return the implementations that files may name."""
    return Plugins(WORKERS_GROUP, given or {})


def step_class(known: Plugins, name: str) -> type[Step]:
    """Return a step class. Errors: `KeyError` where none is known; `ValueError` where it cannot be used."""
    found = known[name]
    if isinstance(found, type) and issubclass(found, Step) and found.name == name:
        return found
    raise ValueError(f"names {found!r:.80}, which is no step of that name")


def _load(point: EntryPoint) -> Any:
    try:
        return point.load()
    except Exception as error:  # a package's own code runs here
        package = point.dist.name if point.dist else "?"
        raise ValueError(
            f"names {point.value}, which the package {package!r} offers and which cannot be loaded:"
            f" {type(error).__name__}: {error}"
        ) from error
