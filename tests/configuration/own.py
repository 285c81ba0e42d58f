"""Steps and implementations of somebody's own, as packages or callers bring them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar

from pydantic import Field

from refdesk.context import Context
from refdesk.documents import Hit
from refdesk.errors import InputError
from refdesk.pipeline import Kind, Run, Step


@dataclass(frozen=True, kw_only=True)
class Shorten(Step):
    """Shorten the query."""

    kind: ClassVar[Kind] = "query_optimizer"
    reads: ClassVar[frozenset[str]] = frozenset({"query"})
    writes: ClassVar[frozenset[str]] = frozenset({"rewritten_query"})

    words: Annotated[int, Field(ge=1)] = 10
    """Words that are kept."""

    async def __call__(self, context: Context, run: Run) -> Context:
        return context.evolve(rewritten_query=" ".join(context.query.split()[: self.words]))


@dataclass(frozen=True, kw_only=True)
class Picky(Step):
    """Check its options itself."""

    kind: ClassVar[Kind] = "query_optimizer"

    level: int = 0

    def __post_init__(self) -> None:
        if self.level > 3:
            raise InputError("The level is too high.")


class Upper:
    """A rewriter with an option."""

    def __init__(self, suffix: str = "") -> None:
        self.suffix = suffix

    def rewrite(self, question: str) -> str:
        return question.upper() + self.suffix


def not_a_step() -> None:
    """Do nothing."""


def ordered(question: str, hits: Sequence[Hit]) -> Sequence[Hit]:
    """Leave hits in their order."""
    return hits
