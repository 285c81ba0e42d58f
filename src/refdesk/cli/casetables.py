"""The cases of a stored run as a table."""

from typing import TYPE_CHECKING

from refdesk.cli.session import Session
from refdesk.cli.tables import table
from refdesk.cli.terminal import one_line, say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from refdesk.evaluation.runs.outcomes import CaseOutcome, Run

QUESTION = 60
SAID = 80
RANKING, ANSWERED = "nDCG@10", ("answer.right", "answer.faithfulness")
"""Figures that are shown of each case; --json has all."""


def show_cases(session: Session, run: "Run") -> None:
    """Print every case, one a line: how it went, its main figures, at which rank what it needs was found."""
    from refdesk.evaluation.reporting.summary import main_channel
    from refdesk.evaluation.reporting.verdicts import criteria, meaning

    outcomes = list(run.outcomes.values())
    if not outcomes:
        return
    good = criteria([run])
    channel = main_channel(name for one in outcomes for name in one.measures)
    wanted = (f"{channel}.{RANKING}", *ANSWERED)
    measures = [name for name in wanted if any(name in one.measures for one in outcomes)]
    say(session.out, f"\nCases. {meaning(good)}".rstrip())
    found = (f"found at ({channel})",) if channel else ()
    headings = ("case", "", *measures, *found, "seconds", "question", "said")
    table(session.out, headings, [_case(one, good, measures, channel) for one in outcomes])


def _case(one: "CaseOutcome", good: "Sequence[str]", measures: "Sequence[str]", channel: str) -> list[object]:
    from refdesk.evaluation.reporting.numbers import written
    from refdesk.evaluation.reporting.verdicts import WORDS, state_of

    figures = [written(name, one.measures[name]) if name in one.measures else "–" for name in measures]
    ranks = [_ranks(one, channel)] if channel else []
    seconds = written("seconds", one.seconds)
    question = one_line(one.question, QUESTION)
    return [one.case_id, WORDS[state_of(one, good)], *figures, *ranks, seconds, question, _said(one)]


def _ranks(one: "CaseOutcome", name: str) -> str:
    """Return the ranks at which a channel has what the case needs, in the order of its needs."""
    from refdesk.evaluation.comparing.changed import rank_of

    channel = next((found for found in one.channels if found.name == name), None)
    ranks = [rank_of(need, place, channel) for place, need in enumerate(one.needs)]
    return ", ".join("?" if rank is None else str(rank or "–") for rank in ranks)


def _said(one: "CaseOutcome") -> str:
    if one.error:
        return one_line(f"failed: {one.error}", SAID)
    if one.answer is None:
        return ""
    return one_line(f"refused: {one.answer.refusal}" if one.answer.refusal else one.answer.text, SAID)
