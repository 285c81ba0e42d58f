"""Fit the levels of a grounder on labelled texts, and say what they do to others.

The rule. A text is as far held as its weakest statement. `supported_from` divides faithful texts best from
the others (balanced accuracy, in the middle of the gap). `partial_from` is a promise to faithful texts: of
new ones, at most the share `missed` falls below it, on average over what may be drawn (a conformal quantile).
Where `supported_from` is lower already, both are that score.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from refdesk.errors import InputError
from refdesk.evaluation.calibrating.calibration import best_split, quantile
from refdesk.evaluation.calibrating.faithfulness import MEASURED_ON, TUNED_ON, Judged, balanced_accuracy
from refdesk.evaluation.calibrating.zones import auc
from refdesk.evaluation.comparing.statistics import Estimate, Floats, redrawn, resampled, share
from refdesk.grounding import Grounder
from refdesk.grounding.calibration import levels_of, measured_as
from refdesk.grounding.levels import Levels
from refdesk.support import Support

FEWEST = 10
"""Texts of each label, below which nothing is fitted."""
MISSED = 0.1
REFITS = 500
KINDS = {True: "faithful", False: "other"}


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelRow:
    """How the texts of one kind fall into levels."""

    kind: str
    texts: int
    unsupported: Estimate
    partial: Estimate
    supported: Estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelsFit:
    """Levels, and what they do to texts that they were not fitted on."""

    levels: Levels
    rows: tuple[LevelRow, ...]
    held: float
    """Balanced accuracy where a text is faithful if none of it is unsupported."""
    supported: float
    """Balanced accuracy where it is faithful if all of it is supported."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelsReport:
    """Levels that were fitted on some texts, and how they and those in force do on the others."""

    data: str
    grounder: str
    """Under which name the calibration file has them."""
    missed: float
    supported_from: Estimate
    """With the interval of fits on texts drawn anew."""
    partial_from: Estimate
    fitted_on: Mapping[str, int]
    """Kind to how many texts of it."""
    fitted: LevelsFit
    in_force: LevelsFit
    auc: Estimate
    """Chance that a faithful text scores higher than another, of those that nothing was fitted on."""
    unchecked: int
    """Texts that the grounder could not judge; they are in no figure."""
    scores: Mapping[str, tuple[float, ...]]
    """Kind to the scores of the texts that nothing was fitted on."""
    warnings: tuple[str, ...] = ()

    def to_json(self, *, per_text: bool = False) -> dict[str, Any]:
        """Return plain values; `per_text` adds the scores."""
        record = asdict(self)
        if not per_text:
            del record["scores"]
        return record


def fit_levels(
    judged: Sequence[Judged], grounder: Grounder, *, data: str, missed: float = MISSED, seed: int = 0
) -> LevelsReport:
    """Fit levels on one split, and report on the other.

    Errors: `InputError` for a grounder without levels, one that left the texts to another, and too few texts.
    """
    in_force, name = levels_of(grounder), measured_as(grounder)
    if in_force is None:
        raise InputError(
            f"The grounder {getattr(grounder, 'name', grounder)!r} has no levels that could be fitted.",
            remedy="Name local, lexical or nli:FOLDER; a judge says itself what is supported.",
        )
    if not 0 <= missed < 1:
        raise InputError(f"The share missed is {missed!r}; it has to be from 0 to less than 1.")
    own = [one for one in judged if one.score is not None and one.grounder == getattr(grounder, "name", "")]
    held, wrong = _scores(own, TUNED_ON)
    rest = {kind: scores for kind, scores in zip(KINDS.values(), _scores(own, MEASURED_ON), strict=True)}
    _enough(held, wrong, rest, _elsewhere(judged, own))
    levels = Levels(
        *fit_scores(held, wrong, missed), f"{data}: {len(held)} faithful texts, {len(wrong)} others"
    )
    high, low = _intervals(held, wrong, missed, seed)
    return LevelsReport(
        data=data,
        grounder=name,
        missed=missed,
        supported_from=Estimate(levels.supported_from, *high),
        partial_from=Estimate(levels.partial_from, *low),
        fitted_on={"faithful": len(held), "other": len(wrong)},
        fitted=_fit(levels, rest),
        in_force=_fit(in_force, rest),
        auc=resampled(auc, rest["faithful"], rest["other"]),
        unchecked=sum(one.score is None for one in judged),
        scores={kind: tuple(found.tolist()) for kind, found in rest.items()},
        warnings=(*_warnings(judged, own, held, missed), *_broken_promise(rest["faithful"], levels, missed)),
    )


def fit_scores(held: Floats, wrong: Floats, missed: float) -> tuple[float, float]:
    """Return `supported_from` and `partial_from` for the scores of faithful and of other texts."""
    supported = best_split(held, wrong)
    return supported, min(supported, quantile(held, missed))


def _scores(judged: Sequence[Judged], split: str) -> tuple[Floats, Floats]:
    of_it = [one for one in judged if one.case.split == split]
    held, wrong = ([one.score for one in of_it if one.case.faithful == kind] for kind in KINDS)
    return np.array(held, float), np.array(wrong, float)


def _enough(held: Floats, wrong: Floats, rest: Mapping[str, Floats], elsewhere: str) -> None:
    fewest = min(len(held), len(wrong), *map(len, rest.values()))
    if fewest < FEWEST:
        counts = f"{len(held)} faithful and {len(wrong)} other texts to fit on, {len(rest['faithful'])} and "
        raise InputError(
            f"There are {counts}{len(rest['other'])} to report on; at least {FEWEST} of each are needed."
            f"{elsewhere}",
            remedy="Give more labelled texts, or another grounder.",
        )


def _elsewhere(judged: Sequence[Judged], own: Sequence[Judged]) -> str:
    others = sorted({one.grounder for one in judged if one.score is not None} - {one.grounder for one in own})
    count = sum(one.score is not None for one in judged) - len(own)
    return f" {count} texts were left to {', '.join(others)}." if count else ""


def _fit(levels: Levels, rest: Mapping[str, Floats]) -> LevelsFit:
    pairs = [(score, kind == KINDS[True]) for kind, found in rest.items() for score in found.tolist()]
    return LevelsFit(
        levels=levels,
        rows=tuple(_row(kind, found, levels) for kind, found in rest.items()),
        held=balanced_accuracy(pairs, levels.partial_from),
        supported=balanced_accuracy(pairs, levels.supported_from),
    )


def _row(kind: str, scores: Floats, levels: Levels) -> LevelRow:
    found: list[Support] = [levels.level(score) for score in scores.tolist()]
    unsupported, partial, supported = (
        share(found.count(level), len(found)) for level in ("unsupported", "partial", "supported")
    )
    return LevelRow(
        kind=kind, texts=len(found), unsupported=unsupported, partial=partial, supported=supported
    )


def _intervals(held: Floats, wrong: Floats, missed: float, seed: int) -> tuple[tuple[float, float], ...]:
    rng = np.random.default_rng(seed)
    fits = [fit_scores(redrawn(held, rng), redrawn(wrong, rng), missed) for _ in range(REFITS)]
    low, high = np.percentile(fits, [2.5, 97.5], axis=0)
    return (float(low[0]), float(high[0])), (float(low[1]), float(high[1]))


def _broken_promise(faithful: Floats, levels: Levels, missed: float) -> Iterator[str]:
    below = share(int((faithful < levels.partial_from).sum()), len(faithful))
    if below.low > missed:
        yield (
            f"Of the faithful texts of the report {below.value:.1%} are missed, not {missed:.1%}: they "
            "differ from those of the fit, or the grounder itself was made with those."
        )


def _warnings(judged: Sequence[Judged], own: Sequence[Judged], held: Floats, missed: float) -> Iterator[str]:
    if left := _elsewhere(judged, own):
        yield f"{left.strip()} They are in no figure."
    if missed * (len(held) + 1) < 1:
        yield (
            f"{len(held)} faithful texts cannot promise that at most {missed:.1%} are missed; the least is "
            f"{1 / (len(held) + 1):.1%}, with the lowest score as `partial_from`. Give or allow more."
        )
