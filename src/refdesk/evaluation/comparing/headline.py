"""Which measures decide a comparison, where nobody names them."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from refdesk.errors import InputError
from refdesk.evaluation.comparing.pairing import (
    FAILED,
    FALSE_REFUSAL,
    FINAL,
    REFUSED,
    STAGES,
    Group,
    shared_measures,
)
from refdesk.evaluation.runs.outcomes import is_quality

RANKING = ("nDCG@10", "Recall@5")
RIGHT = "answer.right"
FAITHFUL = "answer.faithfulness"
RERANKED = "reranked"


@dataclass(frozen=True, slots=True, kw_only=True)
class Headline:
    """What decides, and what has to be said about that."""

    measures: tuple[str, ...]
    notes: tuple[str, ...] = ()


def headline(a: Group, b: Group, cases: Sequence[str], named: Sequence[str] | None = None) -> Headline:
    """Return the measures that decide: those that are named, else those of the last stage and of answers.

    Where any case failed, that decides too: no other measure knows of it.
    Errors: `InputError` for a named one that is not in both.
    """
    notes: list[str] = []
    found = list(_named(a, b, named) if named else _usual(a, b, cases, notes))
    if any(side.failures(one) for side in (a, b) for one in cases) and FAILED not in found:
        found.append(FAILED)
    if not found:
        notes.append("No measure of quality is in both, so nothing decides.")
    return Headline(measures=tuple(found), notes=tuple(notes))


def _named(a: Group, b: Group, named: Iterable[str]) -> Iterator[str]:
    shared = (*shared_measures(a, b), FAILED)
    for name in dict.fromkeys(named):
        if name not in shared:
            raise _unknown(a, b, name, shared)
        if is_quality(name):
            yield name


def _unknown(a: Group, b: Group, name: str, shared: Sequence[str]) -> InputError:
    only = next((side.name for side in (a, b) if name in side.measures), "")
    where = f"was measured in {only!r} alone" if only else "was not measured"
    if name == REFUSED:
        return InputError(
            f"{name!r} is neither good nor bad.", remedy=f"Compare {FALSE_REFUSAL!r} and {RIGHT!r}."
        )
    near = get_close_matches(name, shared, 1)
    hint = f"Did you mean {near[0]!r}? " if near else ""
    return InputError(f"{name!r} {where}.", remedy=f"{hint}Both have: {', '.join(shared)}.")


def _usual(a: Group, b: Group, cases: Sequence[str], notes: list[str]) -> Iterator[str]:
    shared = shared_measures(a, b)
    for name in (RIGHT, FAITHFUL):
        if name not in shared and (only := _alone(a, b, name)):
            notes.append(f"{name} was measured in {only} alone, so it cannot decide.")
    if stage := _stage(a, b, shared, notes):
        yield from (f"{stage}.{name}" for name in RANKING)
    if RIGHT in shared:
        yield RIGHT
    if FALSE_REFUSAL in shared and not _right_knows_all(a, b, cases):
        yield FALSE_REFUSAL
    if FAITHFUL in shared:
        yield FAITHFUL


def _stage(a: Group, b: Group, shared: Sequence[str], notes: list[str]) -> str:
    """Return the last channel of both; the last one of each where a run has no reranker."""
    if a.stage != b.stage and RERANKED in (a.stage, b.stage):
        other = b if a.stage == RERANKED else a
        if other.stage and all("reranker" not in run.header.versions for run in other.runs):
            notes.append(
                f"{other.name} has no reranker, so `{FINAL}` compares the last stage of each: "
                f"{a.stage} in A, {b.stage} in B."
            )
            return FINAL
    found = next((one for one in STAGES if all(f"{one}.{name}" in shared for name in RANKING)), "")
    for side, name in ((a, "A"), (b, "B")):
        if found and side.stage != found:
            notes.append(f"{side.stage} was measured in {name} alone, so {found} decides.")
    return found


def _alone(a: Group, b: Group, measure: str) -> str:
    """Return the side that has a measure, empty for neither."""
    return next((name for side, name in ((a, "A"), (b, "B")) if measure in side.measures), "")


def _right_knows_all(a: Group, b: Group, cases: Iterable[str]) -> bool:
    """Return whether a false refusal is always a wrong answer too; where no answer is known it is not."""
    return all(
        a.value(one, RIGHT) is not None or b.value(one, RIGHT) is not None
        for one in cases
        if a.value(one, FALSE_REFUSAL) is not None and b.value(one, FALSE_REFUSAL) is not None
    )
