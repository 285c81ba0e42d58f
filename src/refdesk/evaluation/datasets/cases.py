"""The words of data sets: what is asked, and what a right answer rests on.

Gold is documents and spans of their text, never chunk ids, so that another chunk size leaves it valid.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from refdesk.context import Turn


@dataclass(frozen=True, slots=True, kw_only=True)
class Gold:
    """A document that holds what is asked, or a span of it."""

    document: str
    """Source id of the document."""
    quote: str = ""
    """The span's text; empty for the whole document."""
    start: int | None = None
    """First character of the span in the document's text, where it is known; else the quote is looked up."""

    @property
    def end(self) -> int | None:
        return None if self.start is None else self.start + len(self.quote)


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """One thing that has to be found: any of some alternatives will do."""

    alternatives: tuple[Gold, ...]
    grade: int = 1
    """How relevant it is, above 0."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A question whose right outcome is known."""

    case_id: str
    question: str
    needs: tuple[Need, ...] = ()
    """What has to be found, all of it; empty for questions that the documents do not answer."""
    answers: tuple[str, ...] = ()
    """Right answers in words, any of which will do; empty where none is known."""
    answerable: bool = True
    """Whether the documents answer it; where not, a refusal is the right answer."""
    tags: tuple[str, ...] = ()
    history: tuple[Turn, ...] = ()
    """What was said before, oldest first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CorpusDocument:
    """A document of a data set that brings its own."""

    document: str
    """Source id."""
    title: str
    text: str
    language: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class DataSet:
    """Cases, and the documents they are about, where the data set brings them."""

    name: str
    split: str = ""
    cases: tuple[Case, ...]
    documents: tuple[CorpusDocument, ...] = ()
    """Empty for questions about what is in a library already."""
    digest: str = ""
    """Of questions, gold and documents, so that runs on different data are not compared."""
    warnings: tuple[str, ...] = ()
    facts: Mapping[str, str | int] = field(default_factory=dict)
    """Where it is from: reader, file names."""
