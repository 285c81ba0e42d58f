"""The steps and implementations that a pipeline file may name: built-in, given, or of installed packages."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from refdesk.pipeline import Step
from refdesk.steps import BUILTIN

STEPS_GROUP, WORKERS_GROUP = "refdesk.steps", "refdesk.workers"


@dataclass(slots=True)
class Names:
    """What is known by which name. Packages' own are loaded when a file names them."""

    steps: dict[str, type[Step]]
    workers: Mapping[str, Any]
    plugins: Mapping[str, EntryPoint] = field(default_factory=dict)

    def step(self, name: str) -> type[Step] | None:
        """Return a step class. Errors: `ImportError` and its like where a package's step cannot be loaded."""
        if name not in self.steps and name in self.plugins:
            loaded = self.plugins[name].load()
            if not (isinstance(loaded, type) and issubclass(loaded, Step)):
                raise TypeError(f"{self.plugins[name].value} is no step")
            self.steps[name] = loaded
        return self.steps.get(name)

    @property
    def all_steps(self) -> tuple[str, ...]:
        return (*self.steps, *(name for name in self.plugins if name not in self.steps))


def known_names(steps: Iterable[type[Step]] = (), workers: Mapping[str, Any] | None = None) -> Names:
    """Return what files may name; what is given goes before what packages bring, and that before nothing."""
    known = {one.name: one for one in (*BUILTIN, *steps)}
    plugins = {one.name: one for one in entry_points(group=STEPS_GROUP)}
    return Names(known, _Workers(dict(workers or {})), plugins)


class _Workers(dict[str, Any]):
    """Given implementations, and those of installed packages, which are loaded when they are named."""

    def __missing__(self, name: str) -> Any:
        for one in entry_points(group=WORKERS_GROUP, name=name):
            self[name] = one.load()
            return self[name]
        raise KeyError(name)

    def __contains__(self, name: object) -> bool:
        packaged = (one.name for one in entry_points(group=WORKERS_GROUP))
        return super().__contains__(name) or str(name) in packaged
