"""What an answer is worth: its citations, its claims, whether it is right, whether it had to be refused.

Each mark is a number, or the reason why there is none.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from refdesk.citations.markers import unmarked
from refdesk.context import Answer, Context
from refdesk.errors import ReplyUnreadable
from refdesk.evaluation.datasets.cases import Case
from refdesk.evaluation.runs.judging import HIGHEST, Judge
from refdesk.evaluation.runs.outcomes import AnswerOutcome
from refdesk.evaluation.runs.shortanswers import nearness
from refdesk.grounding.claims import HOLDING
from refdesk.support import Grounding, Support

Mark = float | str
"""A measure from 0 to 1, or why it is missing."""
Marks = Mapping[str, Mark]

RIGHT_FROM = 0.5
"""Least correctness of an answer that is right."""
DECLINED = "declined"
"""Refusal of an answer that says so in words alone, as a judge found."""
REFUSED = "the answer is a refusal"
UNCHECKED = "the answer was not checked against the evidence"
UNKNOWN = "no reference answer is known"
NOT_ANSWERED_BY = "the documents do not answer the question"
OF_ANSWERS = ("citation_validity", "citation_support", "claim_support", "coverage", "faithfulness")
"""Measures that a refusal does not have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """How an answer was read: whether it declines, how correct and faithful it is, and what a judge said."""

    refused: Mark
    correctness: Mark
    faithfulness: Mark
    reasons: Mapping[str, str] = field(default_factory=dict)


def answer_marks(case: Case, answer: Answer, reading: Reading, standing: int) -> Marks:
    """Return all marks of an answer; `standing` citations stand in the stored documents."""
    own = _quality(answer, reading, standing)
    if reading.refused == 1.0:
        own = dict.fromkeys(OF_ANSWERS, REFUSED)
    return {
        **own,
        "correctness": reading.correctness,
        "refused": reading.refused,
        "right": rightness(case, reading),
    }


def _quality(answer: Answer, reading: Reading, standing: int) -> Marks:
    grounding = answer.grounding
    return {
        "citation_validity": citation_validity(answer, standing),
        "citation_support": held([one.support for one in answer.citations], "citation"),
        "claim_support": held([one.support for one in grounding.claims], "claim") if grounding else UNCHECKED,
        "coverage": coverage(grounding) if grounding else UNCHECKED,
        "faithfulness": reading.faithfulness,
    }


def citation_validity(answer: Answer, standing: int) -> Mark:
    """Return the share of markers that pointed to evidence and whose quote stands in its document."""
    written = len(answer.citations) + answer.removed_markers
    return standing / written if written else "the answer cites nothing"


def held(levels: Sequence[Support], what: str) -> Mark:
    """Return the share that the evidence holds, at least in part, of what was checked."""
    checked = [level for level in levels if level != "unchecked"]
    if not checked:
        return f"no {what} was checked" if levels else f"there is no {what}"
    return sum(level in HOLDING for level in checked) / len(checked)


def coverage(grounding: Grounding) -> Mark:
    """Return the share of claims that cite anything."""
    if not grounding.claims:
        return "there is no claim"
    return sum(bool(one.cited) for one in grounding.claims) / len(grounding.claims)


def grounded(answer: Answer) -> Mark:
    """Return the score of an answer's grounding."""
    if answer.grounding is None:
        return UNCHECKED
    if answer.grounding.score is None:
        return answer.grounding.reason or "the grounder gave no score"
    return answer.grounding.score


def rightness(case: Case, reading: Reading) -> Mark:
    """Return 1 for a right answer, and for a refusal where the documents do not answer; else 0."""
    if not case.answerable:
        return reading.refused
    if isinstance(reading.correctness, str):
        return reading.correctness
    return float(reading.correctness >= RIGHT_FROM)


async def read_answer(case: Case, context: Context, answer: Answer, judge: Judge | None) -> Reading:
    """Read an answer, by a judge where there is one. Errors: `LLMError` of the judge, but for its replies."""
    refused = answer.refusal is not None
    if judge is None or refused:
        return read_by_words(case, answer, refused=refused)
    return await _judged(case, context, answer, judge)


def read_by_words(case: Case, answer: Answer, *, refused: bool) -> Reading:
    """Read an answer without a judge: its grounding's score, and how near it comes to the references.

    A refusal of a question that has an answer is as far from it as can be.
    """
    correctness: Mark = _no_reference(case)
    if not correctness:
        correctness = 0.0 if refused else nearness(unmarked(answer.text), case.answers)
    return Reading(
        refused=float(refused), correctness=correctness, faithfulness=REFUSED if refused else grounded(answer)
    )


def _no_reference(case: Case) -> str:
    if not case.answerable:
        return NOT_ANSWERED_BY
    return "" if case.answers else UNKNOWN


async def _judged(case: Case, context: Context, answer: Answer, judge: Judge) -> Reading:
    refused, correctness, reasons = await _held_against_references(case, answer, judge)
    faithfulness: Mark = REFUSED if refused == 1.0 else "there is no evidence"
    if context.evidence and refused != 1.0:
        try:
            faithful = await judge.faithful(answer.text, context.evidence)
            faithfulness, reasons["faithfulness"] = faithful.score / HIGHEST, faithful.reason
        except ReplyUnreadable as error:
            faithfulness = broken(error)
    return Reading(refused=refused, correctness=correctness, faithfulness=faithfulness, reasons=reasons)


async def _held_against_references(
    case: Case, answer: Answer, judge: Judge
) -> tuple[Mark, Mark, dict[str, str]]:
    """Return whether an answer declines in words, how correct it is, and what the judge said to it."""
    question, without = _asked(case), _no_reference(case)
    try:
        if without:
            declining = await judge.declining(question, answer.text)
            return float(declining.declines), without, {"refused": declining.reason}
        correct = await judge.correct(question, answer.text, case.answers)
    except ReplyUnreadable as error:
        return broken(error), without or broken(error), {}
    return float(correct.declines), correct.score / HIGHEST, {"correctness": correct.reason}


def _asked(case: Case) -> str:
    """Return the question with what was said before, as a judge is shown it."""
    return "\n".join([*(f"{turn.role}: {turn.text}" for turn in case.history), case.question])


def broken(error: ReplyUnreadable) -> str:
    """Say that a judge's reply could not be read."""
    return f"the judge's reply could not be read: {error.message}"


def confidence(context: Context, answer: Answer) -> float | None:
    """Return what the desk knew before anybody judged: the best reranker score, else the grounding's."""
    if context.rerank_scores:
        return max(context.rerank_scores.values())
    return None if answer.grounding is None else answer.grounding.score


def answer_outcome(context: Context, answer: Answer, reading: Reading) -> AnswerOutcome:
    """Return an answer as it is stored; one that declines in words is a refusal too."""
    claims = answer.grounding.claims if answer.grounding else ()
    return AnswerOutcome(
        text=answer.text,
        refusal=answer.refusal or (DECLINED if reading.refused == 1.0 else None),
        zone=answer.zone,
        model=answer.model,
        citations=tuple(
            {
                "marker": one.marker,
                "source_id": one.source_id,
                "title": one.title,
                "quote": one.quote,
                "support": one.support,
            }
            for one in answer.citations
        ),
        claims=tuple({"text": one.text, "support": one.support, "cited": [*one.cited]} for one in claims),
        confidence=confidence(context, answer),
        judgements={f"answer.{name}": reason for name, reason in reading.reasons.items() if reason},
    )
