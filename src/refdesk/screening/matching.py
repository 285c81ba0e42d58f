"""Apply rules to a question."""

import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache

import regex

from refdesk.analysis.scripts import UNSPACED
from refdesk.errors import InputError
from refdesk.screening.defaults import DEFAULT_RULES
from refdesk.screening.rules import Rule, Screening
from refdesk.screening.seeing import hides, plain

SECONDS = 0.1
"""Time that one pattern may take on one question."""
FLAGS = regex.IGNORECASE | regex.FULLCASE | regex.DOTALL | regex.VERSION1


def screen(question: str, rules: Sequence[Rule] = DEFAULT_RULES) -> Screening:
    """Apply rules in their order; the first that refuses decides.

    Patterns and words see the question in normal form (NFKC), on one line, without invisible characters.
    Errors: `InputError` for a rule that cannot be applied, also where its pattern takes too long.
    """
    seen = plain(question)
    flags: list[str] = []
    for rule in rules:
        if not _applies(rule, question, seen):
            continue
        if rule.action == "refuse":
            return Screening(allowed=False, rule=rule.name, message=rule.message, flags=tuple(flags))
        flags.append(rule.name)
    return Screening(allowed=True, flags=tuple(flags))


def mistakes(rule: Rule) -> Iterator[str]:
    """Yield what is wrong with a rule beyond the types of its fields."""
    if not rule.name.strip():
        yield "its name is blank"
    if not rule.message.strip():
        yield "its message is blank"
    if any(not plain(word) for word in rule.words):
        yield "one of its words is blank"
    if not (rule.pattern or rule.words or rule.hidden) and rule.longer_than is rule.shorter_than is None:
        yield "it states no condition: pattern, words, longer_than, shorter_than or hidden"
    if rule.pattern:
        try:
            if _pattern(rule.pattern).search("", timeout=SECONDS):
                yield f"its pattern {rule.pattern!r:.60} is found in every question"
        except _UNUSABLE as error:
            yield f"its pattern {rule.pattern!r:.60} cannot be used: {_said(error)}"


def _applies(rule: Rule, question: str, seen: str) -> bool:
    if rule.longer_than is not None and len(question) > rule.longer_than:
        return True
    if rule.shorter_than is not None and len(seen) < rule.shorter_than:
        return True
    return (rule.hidden and hides(question)) or _found(rule, seen)


def _found(rule: Rule, seen: str) -> bool:
    try:
        return bool(
            (rule.pattern and _pattern(rule.pattern).search(seen, timeout=SECONDS))
            or (rule.words and _words(rule.words).search(seen, timeout=SECONDS))
        )
    except _UNUSABLE as error:
        raise InputError(
            f"The rule {rule.name!r} cannot be applied: {_said(error)}.", remedy="Mend its pattern."
        ) from error


@lru_cache(maxsize=512)
def _pattern(pattern: str) -> regex.Pattern[str]:
    return regex.compile(unicodedata.normalize("NFC", pattern), FLAGS)


@lru_cache(maxsize=512)
def _words(words: tuple[str, ...]) -> regex.Pattern[str]:
    """Return a pattern for whole words; where a script has no blanks between words, for their letters."""
    whole = {word for word in map(plain, words) if word}
    return regex.compile("|".join(sorted(map(_bounded, whole), key=len, reverse=True)) or r"(?!)", FLAGS)


def _bounded(word: str) -> str:
    before, after = (
        "" if UNSPACED.match(sign) or not regex.match(r"\w", sign) else bound
        for sign, bound in ((word[0], r"(?<!\w)"), (word[-1], r"(?!\w)"))
    )
    return before + regex.escape(word, special_only=True) + after


_UNUSABLE = (regex.error, TimeoutError, OverflowError, RecursionError, MemoryError, ValueError)


def _said(error: BaseException) -> str:
    late = f"it takes more than {SECONDS:g} seconds"
    return late if isinstance(error, TimeoutError) else " ".join(str(error).split()) or type(error).__name__
