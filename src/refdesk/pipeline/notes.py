"""What is noted while a step works; the runner puts it into the context when the step ends."""

from dataclasses import dataclass, field

from refdesk.context import NO_USAGE, Context, Measure, Trace, Usage
from refdesk.events import Sink


@dataclass(slots=True)
class Notes:
    """The notes of one step."""

    warnings: list[str] = field(default_factory=list)
    degraded: list[str] = field(default_factory=list)
    """What failed and was done without."""
    measures: dict[str, Measure] = field(default_factory=dict)
    usage: Usage = NO_USAGE
    parts: list[Trace] = field(default_factory=list)
    """Traces of what the step did in parts, such as attempts."""
    reached: Context | None = None
    """What the last step inside it left."""
    names: set[str] = field(default_factory=set)
    """Of the steps and parts inside it."""

    def name_for(self, label: str) -> str:
        """Return a name that nothing else inside has: a second `search` becomes `search-2`."""
        name, count = label, 1
        while name in self.names:
            count += 1
            name = f"{label}-{count}"
        self.names.add(name)
        return name

    def add_usage(self, usage: Usage) -> None:
        self.usage = self.usage + usage

    def take(self, inner: "Notes", trace: Trace) -> None:
        """Take over the notes of a part, or of a step inside that was broken off."""
        self.parts.extend((*inner.parts, trace))
        self.warnings.extend(inner.warnings)
        self.degraded.extend(inner.degraded)
        self.add_usage(inner.usage)
        self.reached = inner.reached or self.reached


@dataclass(slots=True)
class Shared:
    """What all steps of a run have in common."""

    pieces: list[str] = field(default_factory=list)
    """The text of the answer that a reader has already seen."""
    deaf: list[Sink] = field(default_factory=list)
    """Listeners that failed."""

    @property
    def text(self) -> str:
        return "".join(self.pieces)
