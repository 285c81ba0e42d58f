"""Which cases went well: by their answers, or where these could not be judged, by what was found."""

from collections.abc import Iterable, Mapping
from typing import Literal

from refdesk.evaluation.comparing.pairing import STAGES
from refdesk.evaluation.runs.outcomes import CaseOutcome, Run

State = Literal["right", "wrong", "error", "unknown"]
SIGNS: Mapping[State, str] = {"right": "✓", "wrong": "✗", "error": "!", "unknown": "–"}
WORDS: Mapping[State, str] = {
    "right": "right",
    "wrong": "wrong",
    "error": "failed",
    "unknown": "not judged",
}
ANSWERED = "answer.right"
FOUND = "Hit@5"
HALF = 0.5


def criteria(runs: Iterable[Run]) -> tuple[str, ...]:
    """Return the measures that say how a case went, the first that it has; the same ones for all runs."""
    known = [{name for one in run.outcomes.values() for name in one.measures} for run in runs]
    shared = set.intersection(*known) if known else set()
    found = next((name for channel in STAGES if (name := f"{channel}.{FOUND}") in shared), "")
    return tuple(name for name in (ANSWERED, found) if name in shared)


def meaning(measures: Iterable[str]) -> str:
    """Say what is right under criteria."""
    told = [
        "a right answer, or a refusal where the documents do not answer"
        if name == ANSWERED
        else f"what answers is among the first five ({name.partition('.')[0]})"
        for name in measures
    ]
    return f"Right: {'; where an answer could not be judged: '.join(told)}." if told else ""


def state_of(outcome: CaseOutcome, measures: Iterable[str]) -> State:
    """Say how a case went."""
    if outcome.error:
        return "error"
    value = next((outcome.measures[name] for name in measures if name in outcome.measures), None)
    if value is None:
        return "unknown"
    return "right" if value >= HALF else "wrong"
