"""From the network's logits to probabilities that came true, and to levels of support."""

from collections.abc import Sequence

import numpy as np
from benchmarks.fit_grounder.items import Item, within
from numpy.typing import NDArray

from refdesk.citations.sentences import sentences
from refdesk.evaluation.calibrating.faithfulness import best_threshold
from refdesk.grounding.alignment import Floats, verdict
from refdesk.grounding.local import ENGLISH
from refdesk.grounding.stating import Statement

STEPS = 100
LEAST = 1e-9
PRECISE = 1e-9
KEPT = 0.9
"""Share of faithful texts that are to be partly supported at least."""


def weakest(item: Item, logits: Floats) -> float:
    """Return the probability that the least supported sentence of a text is held, as the grounder sees it."""
    text, shares = item.answer.text, []
    for span in sentences(text, ENGLISH):
        tokens = within(item.answer.offsets, ((span.start, span.end),))
        if tokens.any() and not Statement.of(span.of(text), ENGLISH).empty:
            shares.append(verdict(logits[tokens])[0])
    return min(shares, default=verdict(logits)[0])


def log_odds(shares: Sequence[float]) -> NDArray[np.float64]:
    """Return the log-odds of probabilities, as `refdesk.grounding.local.calibrated` takes them."""
    array = np.asarray(shares, np.float64)
    return np.asarray(np.log(np.maximum(array, LEAST)) - np.log(np.maximum(1 - array, LEAST)))


def calibrated(shares: Sequence[float], slope: float, intercept: float) -> list[float]:
    """Return the probabilities that a calibration makes of others."""
    odds = np.clip(slope * log_odds(shares) + intercept, -500, 500)
    found: list[float] = (1 / (1 + np.exp(-odds))).tolist()
    return found


def calibration(shares: Sequence[float], true: Sequence[bool]) -> tuple[float, float]:
    """Return slope and intercept from log-odds to those of what came true (Platt 1999), by Newton's method.

    Both outcomes count alike, however many there are of each: how often answers are wrong is another
    question than what the evidence says of one. The targets are drawn in a little, by how many there are,
    so that outcomes that the shares part without a fault do not make the slope endless.
    """
    right = np.asarray(true, bool)
    wins, losses = int(right.sum()), int((~right).sum())
    targets = np.where(right, (wins + 1) / (wins + 2), 1 / (losses + 2))
    counts = np.where(right, 0.5 / max(1, wins), 0.5 / max(1, losses))
    odds = log_odds(shares)
    middle, spread = float(odds.mean()), float(odds.std()) or 1.0
    inputs = np.stack([(odds - middle) / spread, np.ones(len(right))], axis=1)

    def loss(weights: NDArray[np.float64]) -> float:
        found = inputs @ weights
        return float((counts * (np.logaddexp(0.0, found) - targets * found)).sum())

    found = np.zeros(2)
    for _ in range(STEPS):
        given = 1 / (1 + np.exp(-np.clip(inputs @ found, -35, 35)))
        bent = (inputs * (counts * given * (1 - given))[:, None]).T @ inputs + 1e-9 * np.eye(2)
        step = np.linalg.solve(bent, inputs.T @ (counts * (given - targets)))
        while loss(found - step) > loss(found) and np.abs(step).max() > PRECISE:
            step = step / 2
        found = found - step
        if np.abs(step).max() < PRECISE:
            break
    slope = float(found[0]) / spread
    return slope, float(found[1]) - slope * middle


def levels(scores: Sequence[float], true: Sequence[bool]) -> tuple[float, float]:
    """Return from which score on a sentence is supported, and partly so.

    The one parts faithful texts best from others, the other is what nine in ten faithful texts reach.
    """
    pairs = list(zip(scores, true, strict=True))
    faithful = [score for score, held in pairs if held]
    return best_threshold(pairs), float(np.quantile(faithful, 1 - KEPT)) if faithful else 0.0
