"""What is noted while a step works; the runner puts it into the context when the step ends."""

from dataclasses import dataclass, field

from refdesk.context import NO_USAGE, Measure, Trace, Usage


@dataclass(slots=True)
class Notes:
    """The notes of one step."""

    warnings: list[str] = field(default_factory=list)
    measures: dict[str, Measure] = field(default_factory=dict)
    usage: Usage = NO_USAGE
    parts: list[Trace] = field(default_factory=list)
    """Traces of what the step did in parts, such as attempts."""

    def add_usage(self, usage: Usage) -> None:
        self.usage = self.usage + usage


@dataclass(slots=True)
class Shown:
    """The text of the answer that a reader has already seen in this run."""

    pieces: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "".join(self.pieces)
