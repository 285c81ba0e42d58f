"""Measures of a ranking, by ir-measures (MacAvaney, Macdonald and Ounis, ECIR 2022)."""

import math
from collections.abc import Iterable, Mapping, Sequence

import ir_measures
import numpy as np
from ir_measures import RR, R, nDCG

from refdesk.documents import Hit
from refdesk.evaluation.comparing.statistics import Estimate, mean_intervals
from refdesk.evaluation.datasets.beir import Grades

MEASURES = {
    "nDCG@10": nDCG @ 10,
    "Recall@2": R @ 2,
    "Recall@5": R @ 5,
    "Recall@10": R @ 10,
    "Recall@100": R @ 100,
    "MRR@10": RR @ 10,
}
DEEPEST = 100

Scores = dict[str, float]
"""Measure to value, 0 to 1."""


def ranked_documents(hits: Iterable[Hit]) -> tuple[str, ...]:
    """Return the source ids of ranked hits: a document stands where its best chunk stands."""
    return tuple(dict.fromkeys(hit.source_id for hit in hits))[:DEEPEST]


def score_rankings(
    judgements: Mapping[str, Grades], rankings: Mapping[str, Sequence[str]]
) -> dict[str, Scores]:
    """Score every judged query; one without a ranking scores 0."""
    scores = {query: dict.fromkeys(MEASURES, 0.0) for query in judgements}
    names = {measure: name for name, measure in MEASURES.items()}
    qrels = [
        ir_measures.Qrel(query, document, grade)
        for query, grades in judgements.items()
        for document, grade in grades.items()
    ]
    run = [
        ir_measures.ScoredDoc(query, document, float(-place))
        for query, ranking in rankings.items()
        for place, document in enumerate(ranking)
    ]
    for found in ir_measures.iter_calc(list(names), qrels, run):
        scores[found.query_id][names[found.measure]] = float(found.value)
    return scores


def means(scores: Mapping[str, Scores]) -> Scores:
    """Return each measure's mean over the queries."""
    return {name: sum(one[name] for one in scores.values()) / len(scores) for name in MEASURES}


def percentile(values: Sequence[float], share: float) -> float:
    """Return the smallest value that at least this share of the values does not exceed."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(len(ordered) * share) - 1)]


def paired_differences(
    ours: Sequence[Mapping[str, float]], theirs: Sequence[Mapping[str, float]], *, seed: int = 0
) -> dict[str, Estimate]:
    """Compare two systems on the same queries, in the same order: measure to how far ours is above theirs.

    Both scores of a query are drawn together, so the interval says what another sample of such queries might
    show.
    """
    pairs = zip(ours, theirs, strict=True)
    gaps = np.array([[one[name] - other[name] for name in MEASURES] for one, other in pairs])
    return dict(zip(MEASURES, mean_intervals(gaps, seed=seed), strict=True))
