"""Rules on cases: what they find, what they miss, and what they turn away for no reason."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from refdesk.screening.cases import Case
from refdesk.screening.matching import screen
from refdesk.screening.rules import Rule


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """What rules made of a case."""

    case: Case
    found: tuple[str, ...]
    """Rules that found something, those that flag and the one that refuses."""

    @property
    def right(self) -> bool:
        if isinstance(self.case.expect, str) and self.case.expect:
            return self.case.expect in self.found
        return self.screened is not self.case.harmless

    @property
    def screened(self) -> bool:
        return bool(self.found)


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """Counts for a rule, a language, or all cases."""

    name: str
    expected: int
    """Cases that should be found."""
    hits: int
    harmless: int
    """Cases that should be left alone."""
    false_alarms: int

    @property
    def misses(self) -> int:
        return self.expected - self.hits

    @property
    def recall(self) -> float | None:
        """Share of what should be found that is; None where there is nothing."""
        return self.hits / self.expected if self.expected else None

    @property
    def false_alarm_rate(self) -> float | None:
        """Share of what is harmless that is found; None where there is nothing."""
        return self.false_alarms / self.harmless if self.harmless else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """What rules made of all cases."""

    overall: Score
    """Whatever the rule: a case that another rule finds than it should counts as found."""
    rules: tuple[Score, ...]
    """By rule: its own cases, and what it found."""
    languages: tuple[Score, ...]
    wrong: tuple[Tried, ...]

    @property
    def ok(self) -> bool:
        return not self.wrong


def try_rules(rules: Sequence[Rule], cases: Iterable[Case]) -> Trial:
    """Screen every case and count. Errors: `InputError` for a rule that cannot be applied."""
    tried = [_tried(case, rules) for case in cases]
    languages = sorted({one.case.language for one in tried if one.case.language})
    return Trial(
        overall=_score("", tried),
        rules=tuple(_of_rule(rule.id, tried) for rule in rules),
        languages=tuple(
            _score(name, [one for one in tried if one.case.language == name]) for name in languages
        ),
        wrong=tuple(one for one in tried if not one.right),
    )


def _tried(case: Case, rules: Sequence[Rule]) -> Tried:
    verdict = screen(case.text, rules)
    return Tried(case=case, found=(*verdict.flags, *((verdict.rule,) if verdict.rule else ())))


def _score(name: str, tried: Sequence[Tried]) -> Score:
    harmless = [one for one in tried if one.case.harmless]
    return Score(
        name=name,
        expected=len(tried) - len(harmless),
        hits=sum(one.screened for one in tried if not one.case.harmless),
        harmless=len(harmless),
        false_alarms=sum(one.screened for one in harmless),
    )


def _of_rule(rule: str, tried: Sequence[Tried]) -> Score:
    own = [one for one in tried if one.case.expect == rule]
    harmless = [one for one in tried if one.case.harmless]
    return Score(
        name=rule,
        expected=len(own),
        hits=sum(rule in one.found for one in own),
        harmless=len(harmless),
        false_alarms=sum(rule in one.found for one in harmless),
    )
