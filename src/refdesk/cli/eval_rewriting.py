"""`refdesk eval rewriting`: how well follow-up questions are made to stand alone."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from refdesk.cli.eval_options import Seed
from refdesk.cli.progress import counting
from refdesk.cli.session import Session
from refdesk.cli.tables import table
from refdesk.cli.terminal import say
from refdesk.errors import InputError

if TYPE_CHECKING:
    from refdesk.evaluation.searching.rewriting import FollowUp, RewritingReport, Rewritten

Data = Annotated[
    str, typer.Option("--data", metavar="FILE", help="Topics of TREC CAsT with rewritings by hand, JSON.")
]
Model = Annotated[
    str | None, typer.Option("--llm", metavar="MODEL", help="Model string; without one no step is asked.")
]
StepName = Annotated[
    str, typer.Option("--step", metavar="NAME", help="`condense` or `rewrite`.", show_default=True)
]
Sample = Annotated[
    int | None, typer.Option("--sample", min=1, metavar="N", help="Only N turns, drawn by chance.")
]


async def rewriting(
    session: Session,
    data: Data,
    llm: Model = None,
    step: StepName = "condense",
    sample: Sample = None,
    seed: Seed = 0,
) -> None:
    """Hold rewritings of follow-up questions against what people wrote."""
    from refdesk.evaluation.calibrating.asking import sample as drawn
    from refdesk.evaluation.searching.rewriting import as_they_are, read_cast, scored

    turns = read_cast(data)
    chosen = drawn({turn.turn_id: turn.said for turn in turns}, sample, seed)
    turns = tuple(turn for turn in turns if turn.turn_id in chosen)
    reports = [scored(name, turns, rewritten) for name, rewritten in as_they_are(turns).items()]
    if llm:
        rewritten = await _rewritten(session, turns, step, llm)
        reports.append(scored(f"{step}, {llm}", turns, rewritten))
    if session.json:
        session.print_json([asdict(report) for report in reports])
    else:
        _show(session, reports)


async def _rewritten(
    session: Session, turns: "Sequence[FollowUp]", name: str, llm: str
) -> "tuple[Rewritten, ...]":
    from refdesk.evaluation.searching.rewriting import step_rewriter
    from refdesk.steps import Condense, Rewrite

    steps = {"condense": Condense(), "rewrite": Rewrite()}
    if name not in steps:
        raise InputError(f"The step {name!r} rewrites no follow-up; allowed: {', '.join(steps)}.")
    found = []
    async with session.desk() as desk:
        rewrite = step_rewriter(desk, steps[name], llm=llm)
        with counting(session, len(turns)) as count:
            for turn in turns:
                found.append(await rewrite(turn))
                count(name)
    return tuple(found)


def _show(session: Session, reports: "Sequence[RewritingReport]") -> None:
    say(session.out, f"{reports[0].turns} turns, held against rewritings by hand")
    headings = ("rewriting", "word F1", "exact", "added words", "failed", "p50 ms")
    rows = [(one.name, one.f1, one.exact, one.recalled, one.failed, round(one.p50 * 1000)) for one in reports]
    table(session.out, headings, rows)
