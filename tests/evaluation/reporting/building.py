"""Runs as they would be stored, with outcomes drawn by chance."""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from selectolax.lexbor import LexborHTMLParser, LexborNode

from refdesk.context import Turn
from refdesk.evaluation.datasets.cases import Gold, Need
from refdesk.evaluation.runs.outcomes import AnswerOutcome, CaseOutcome, Channel, Run, RunHeader, RunStatus

CHANNELS = ("keyword", "vector", "fused", "reranked")
UNKNOWN = "no reference answer is known"


def a_header(name: str, cases: int, **changes: Any) -> RunHeader:
    """Return a header."""
    header = RunHeader(
        name=name,
        data="handbook",
        split="test",
        data_digest="d1",
        cases=cases,
        pipeline="default",
        pipeline_yaml="version: 1\nsteps:\n- search\n- answer\n",
        settings={"top_k": 5},
        versions={"refdesk": "0.1.0", "embedder": "minilm"},
        seed=0,
        started="2026-03-01T10:00:00+00:00",
    )
    return replace(header, **changes)


def an_outcome(number: int, rank: int, chance: random.Random, *, hard: bool = False) -> CaseOutcome:
    """Return a case whose gold is at this rank everywhere; rank 0 is not found."""
    found = [f"doc{place}" for place in range(1, 13)]
    if rank:
        found[rank - 1] = "gold"
    seconds = 0.2 + chance.random()
    measures = {f"{name}.nDCG@10": 1 / rank if rank else 0.0 for name in CHANNELS}
    measures |= {
        f"{name}.{measure}": float(0 < rank <= 5) for name in CHANNELS for measure in ("Hit@5", "Recall@5")
    }
    return CaseOutcome(
        case_id=f"q{number}",
        question=f"What is said of thing {number}?",
        tags=("hard",) if hard else ("easy", "short"),
        needs=(Need(alternatives=(Gold(document="gold", quote="It is said.", start=3),)),),
        history=(Turn("user", "Tell me."),) if number == 1 else (),
        measures={**measures, "seconds": seconds},
        excluded={"answer.right": UNKNOWN},
        channels=tuple(
            Channel(name=name, documents=tuple(found), spans=(("gold", 0, 40),), seconds=seconds / 10)
            for name in CHANNELS
        ),
        trace=("search  12 ms  hits=12",),
        seconds=seconds,
    )


def an_answer(**changes: Any) -> AnswerOutcome:
    """Return an answer with a citation, a claim of each support, and a judge's reason."""
    answer = AnswerOutcome(
        text="It is said [1].",
        zone="ok",
        model="extractive",
        citations=(
            {
                "marker": 1,
                "source_id": "gold",
                "title": "Gold",
                "quote": "It is said.",
                "support": "supported",
            },
        ),
        claims=tuple(
            {"text": f"This is {support} [1].", "support": support, "cited": [1]}
            for support in ("supported", "partial", "unsupported", "contradicted", "unchecked")
        ),
        confidence=0.7,
        judgements={"answer.correctness": "It says what is expected."},
    )
    return replace(answer, **changes)


def a_run(
    name: str,
    ranks: Sequence[int],
    *,
    seed: int = 0,
    status: RunStatus = "done",
    change: Callable[[CaseOutcome], CaseOutcome] = lambda outcome: outcome,
    **header: Any,
) -> Run:
    """Return a run of a case for each rank; every fourth is hard."""
    chance = random.Random(seed)
    outcomes = [
        change(an_outcome(number, rank, chance, hard=number % 4 == 0)) for number, rank in enumerate(ranks)
    ]
    return Run(
        header=a_header(name, len(ranks), **header),
        status=status,
        outcomes={one.case_id: one for one in outcomes},
        finished="2026-03-01T10:05:00+00:00" if status == "done" else "",
    )


def answered(outcome: CaseOutcome) -> CaseOutcome:
    """Answer a case: rightly where its gold was found; every fifth cannot be answered and is refused."""
    number = int(outcome.case_id[1:])
    if number % 5 == 0:
        refusal = an_answer(text="I do not know.", refusal="below_threshold", citations=(), claims=())
        return with_measures(outcome, refusal, {"right": 1.0, "refused": 1.0}, answerable=False)
    right = outcome.measures["reranked.Hit@5"]
    confidence = 0.9 - number / 100 if right else 0.3 - number / 1000
    own = {"right": right, "refused": 0.0, "faithfulness": 0.8}
    return with_measures(outcome, an_answer(confidence=confidence), own)


def with_measures(
    outcome: CaseOutcome, answer: AnswerOutcome, own: Mapping[str, float], **changes: Any
) -> CaseOutcome:
    """Return a case with an answer and what was measured of it."""
    measures = {**outcome.measures, **{f"answer.{name}": value for name, value in own.items()}}
    return replace(outcome, answer=answer, measures=measures, excluded={}, **changes)


def only(page: LexborHTMLParser | LexborNode, selector: str) -> LexborNode:
    """Return the one node that a selector finds."""
    [found] = page.css(selector)
    return found


GOOD = tuple([1, 1, 2, 1, 1, 3, 1, 1, 1, 2] * 4)
BAD = tuple([4, 7, 0, 6, 1, 0, 8, 7, 2, 9] * 4)
