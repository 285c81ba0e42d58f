"""What happens during long work, as values that the terminal, logs and streams read."""

from dataclasses import dataclass
from typing import Literal

from refdesk.context import Answer

Outcome = Literal["added", "updated", "unchanged", "skipped", "failed", "removed"]
"""`skipped`: nothing to index in it (no text, or a format without text), which is no error."""


@dataclass(frozen=True, slots=True)
class IngestStarted:
    """Ingestion knows how many sources there are."""

    collection: str
    total: int


@dataclass(frozen=True, slots=True)
class SourceFinished:
    """One source is done; `reason` and `message` say why where it failed."""

    source_id: str
    outcome: Outcome
    chunks: int = 0
    reason: str = ""
    message: str = ""


IngestEvent = IngestStarted | SourceFinished


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of the answer's text; all pieces joined are `answer.text`."""

    text: str


@dataclass(frozen=True, slots=True)
class Done:
    """The answer is complete."""

    answer: Answer


AnswerEvent = Token | Done
