"""What stands before a chunk when it is embedded and indexed: a strategy has a name and a version.

A document remembers its strategy in its metadata, so that it is embedded again, and reranked, as it was
ingested. Another strategy, version or value gives a document another digest: it is ingested anew.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import get_args

from refdesk.documents import Metadata, Scalar, Strategy

STRATEGY_KEY = "embedding.strategy"
"""Metadata that names the strategy of a document; without it, it is `titled`."""


@dataclass(frozen=True, slots=True)
class Leading:
    """Metadata whose values follow the title, in this order."""

    version: int
    keys: tuple[str, ...] = ()


STRATEGIES: Mapping[Strategy, Leading] = {
    "titled": Leading(1),
    "post": Leading(1, ("category", "tags")),
}
assert set(STRATEGIES) == set(get_args(Strategy))


def lead(title: str, metadata: Metadata) -> str:
    """Return what is embedded before a document's chunks: its title and what its strategy adds."""
    values = (_text(metadata.get(key, "")) for key in STRATEGIES[strategy_of(metadata)].keys)
    return " > ".join(part for part in (title, *values) if part)


def strategy_of(metadata: Metadata) -> Strategy:
    """Return the strategy that a document was ingested by."""
    named = metadata.get(STRATEGY_KEY)
    return next((known for known in STRATEGIES if known == named), "titled")


def versioned(strategy: Strategy) -> str:
    """Return the name of a strategy with its version."""
    return f"{strategy}:{STRATEGIES[strategy].version}"


def with_strategy(metadata: Metadata, strategy: Strategy) -> Metadata:
    """Return metadata that says the strategy."""
    rest = {key: value for key, value in metadata.items() if key != STRATEGY_KEY}
    return rest if strategy == "titled" else {**rest, STRATEGY_KEY: strategy}


def leading_parts(metadata: Metadata, strategy: Strategy) -> tuple[str, ...]:
    """Return what a strategy makes of metadata, for the digest; nothing where it takes only the title."""
    how = STRATEGIES[strategy]
    if not how.keys:
        return ()
    return (strategy, str(how.version), *(_text(metadata.get(key, "")) for key in how.keys))


def later_versions() -> tuple[str, ...]:
    """Return the strategies that have changed, for the mark of a recipe; their first versions add nothing."""
    return tuple(f"{name}:{how.version}" for name, how in STRATEGIES.items() if how.version > 1)


def _text(value: Scalar | tuple[Scalar, ...]) -> str:
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)
