"""Rules that turn a question away, or flag it."""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import regex
from pydantic import ConfigDict

from refdesk.errors import InputError

Action = Literal["refuse", "flag"]
SECONDS = 0.1
"""Time that one pattern may take on one question."""
_INVISIBLE = regex.compile(r"[\p{Cf}\p{Cc}--\n\t\r]", regex.VERSION1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One condition on a question; what it does not state, it does not ask about."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    name: str
    action: Action = "refuse"
    pattern: str = ""
    """A regular expression that is found somewhere in the question, letter case aside."""
    words: tuple[str, ...] = ()
    """Words or phrases of which one is found, as whole words."""
    longer_than: int | None = None
    """Characters."""
    message: str = "I cannot help with this question."
    """What the one who asks is told."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Screening:
    """What came of the rules."""

    allowed: bool
    rule: str = ""
    """The rule that turned the question away."""
    message: str = ""
    flags: tuple[str, ...] = ()
    """Rules that noted something and let it pass."""


DEFAULT_RULES: tuple[Rule, ...] = (
    Rule(
        name="length",
        longer_than=8000,
        message="The question is too long; please ask it in at most 8,000 characters.",
    ),
    Rule(
        name="instructions",
        action="flag",
        pattern=r"\b(?:ignore|disregard|forget)\b.{0,40}\b(?:instructions?|rules|prompt)\b"
        r"|\b(?:ignorier|vergiss|missachte)\w*\b.{0,40}\b(?:anweisung|regel)\w*"
        r"|\b(?:ignore[zr]?|oublie[zr]?)\b.{0,40}\b(?:instructions?|consignes?|règles?)\b"
        r"|\bsystem prompt\b",
    ),
)


def screen(question: str, rules: Sequence[Rule] = DEFAULT_RULES) -> Screening:
    """Apply rules in their order; the first that refuses decides.

    Patterns see the question in normal form (NFKC), without invisible characters. Errors: `InputError` for a
    pattern that is none, or that takes too long.
    """
    text = plain(question)
    flags: list[str] = []
    for rule in rules:
        if not _applies(rule, text):
            continue
        if rule.action == "refuse":
            return Screening(allowed=False, rule=rule.name, message=rule.message, flags=tuple(flags))
        flags.append(rule.name)
    return Screening(allowed=True, flags=tuple(flags))


def plain(text: str) -> str:
    """Return a text as rules see it."""
    return _INVISIBLE.sub("", unicodedata.normalize("NFKC", text))


def _applies(rule: Rule, text: str) -> bool:
    if rule.longer_than is not None and len(text) > rule.longer_than:
        return True
    patterns = [rule.pattern] if rule.pattern else []
    patterns += [rf"(?<!\w){regex.escape(word)}(?!\w)" for word in rule.words]
    return any(_found(rule, pattern, text) for pattern in patterns)


def _found(rule: Rule, pattern: str, text: str) -> bool:
    try:
        flags = regex.IGNORECASE | regex.DOTALL
        return regex.search(pattern, text, flags, timeout=SECONDS) is not None
    except (regex.error, TimeoutError) as error:
        raise InputError(
            f"The rule {rule.name!r} cannot be applied: {error}.", remedy="Mend its pattern."
        ) from error
