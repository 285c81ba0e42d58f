"""The measure that a sweep wants to make better, and what has to be asked to know it."""

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from refdesk.evaluation.datasets.gold import MEASURES, POLLUTION
from refdesk.evaluation.runs.channels import CHANNELS, PIPELINE

ANSWER = "answer"
ANSWERED = (
    "citation_validity",
    "citation_support",
    "claim_support",
    "coverage",
    "faithfulness",
    "correctness",
    "right",
)
WHOLE = ("seconds", "tokens", "cost", "requests")
"""Measures of a case as a whole."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asks:
    """What a run has to ask."""

    channels: tuple[str, ...] = ()
    pipeline: bool = False
    answers: bool = False


def objectives() -> Sequence[str]:
    """Return all measures that can be an objective."""
    ranked = (f"{channel}.{name}" for channel in (PIPELINE, *CHANNELS) for name in (*MEASURES, POLLUTION))
    return (*ranked, *(f"{ANSWER}.{name}" for name in ANSWERED), *WHOLE)


def unknown_objective(name: str) -> str:
    """Say what to do where a measure is unknown; empty where it is known."""
    known = objectives()
    if name in known:
        return ""
    near = get_close_matches(name, known, 1)
    return f"Did you mean {near[0]!r}?" if near else "Write one such as pipeline.nDCG@10 or answer.right."


def asks_of(objective: str) -> Asks:
    """Return what has to be asked to know a measure."""
    channel = objective.partition(".")[0]
    if channel in CHANNELS:
        return Asks(channels=(channel,))
    return Asks(pipeline=True, answers=channel != PIPELINE)
