"""Apply rules to a question."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

from refdesk.errors import InputError
from refdesk.screening.defaults import DEFAULT_RULES
from refdesk.screening.patterns import compiled, marked, phrase, unmarked
from refdesk.screening.rules import Rule, Screening
from refdesk.screening.seeing import folded, hides, plain
from refdesk.screening.speaking import CODES, maybe, places


def screen(question: str, rules: Sequence[Rule] = DEFAULT_RULES) -> Screening:
    """Apply rules in their order; the first that refuses decides. It takes linear time.

    Patterns and words see the question in normal form (NFKC), on one line, letter case aside, without
    invisible characters. Errors: `InputError` for a rule that cannot be applied.
    """
    seen = _Seen(question)
    flags: list[str] = []
    for rule in rules:
        if not _applies(rule, seen):
            continue
        if rule.action == "refuse":
            return Screening(allowed=False, rule=rule.id, reply=rule.reply, flags=tuple(flags))
        flags.append(rule.id)
    return Screening(allowed=True, flags=tuple(flags))


def mistakes(rule: Rule) -> Iterator[str]:
    """Yield what is wrong with a rule beyond the types of its fields."""
    for name in ("id", "reply"):
        if not getattr(rule, name).strip():
            yield f"its {name} is blank"
    if any(not folded(word) for word in rule.any_of):
        yield "one of its any_of is blank"
    if not (rule.pattern or rule.any_of or rule.hidden) and rule.longer_than is rule.shorter_than is None:
        yield "it states no condition: pattern, any_of, longer_than, shorter_than or hidden"
    for language in set(rule.languages) - CODES:
        yield f"its language {language!r:.40} is no ISO 639-1 code, such as 'en'"
    yield from _wrong_pattern(rule.pattern) if rule.pattern else ()


def _wrong_pattern(pattern: str) -> Iterator[str]:
    try:
        if compiled(pattern).search(b""):
            yield f"its pattern {pattern!r:.60} is found in every question"
    except InputError as error:
        yield f"its pattern {pattern!r:.60} cannot be used: {error}".rstrip(".")


@dataclass(frozen=True)
class _Seen:
    """A question in the forms that rules look at, each made when it is first needed."""

    question: str

    @cached_property
    def plain(self) -> str:
        return plain(self.question)

    @cached_property
    def marked(self) -> bytes:
        return marked(folded(self.question))


def _applies(rule: Rule, seen: _Seen) -> bool:
    measured = (
        (rule.longer_than is not None and len(seen.question) > rule.longer_than)
        or (rule.shorter_than is not None and len(seen.plain) < rule.shorter_than)
        or (rule.hidden and hides(seen.question))
    )
    if measured and (not rule.languages or maybe(seen.plain, rule.languages)):
        return True
    return bool(rule.pattern or rule.any_of) and _found(rule, seen)


def _found(rule: Rule, seen: _Seen) -> bool:
    """Tell whether a rule's words or pattern are in a question, and there in one of its languages.

    What is around a finding is looked at too: a message may be in another language than its core.
    """
    try:
        finder = _finder(rule.pattern, rule.any_of)
    except InputError as error:
        raise InputError(
            f"The rule {rule.id!r} cannot be applied: {error.message}", remedy=error.remedy
        ) from error
    text = seen.marked
    if finder.search(text) is None:
        return False
    if not rule.languages or maybe(seen.plain, rule.languages):
        return True
    around = places((found.span() for found in finder.finditer(text)), len(text))
    return any(maybe(unmarked(text[place]), rule.languages) for place in around)


@lru_cache(maxsize=1024)
def _finder(pattern: str, any_of: tuple[str, ...]) -> Any:
    """Return what finds a pattern or one of some words."""
    whole = {word for word in map(folded, any_of) if word}
    return compiled(pattern, tuple(phrase(word) for word in sorted(whole)))
