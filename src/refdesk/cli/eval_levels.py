"""`refdesk eval levels`: the levels of support of a grounder, fitted on labelled texts."""

from contextlib import closing, nullcontext
from typing import TYPE_CHECKING, Annotated

import typer

from refdesk.cli.eval_options import Plot, Seed
from refdesk.cli.progress import counting
from refdesk.cli.session import Session, command
from refdesk.cli.tables import facts, table
from refdesk.cli.terminal import say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from refdesk.chunking import Chunker
    from refdesk.evaluation.calibrating.faithfulness import Case, Judged
    from refdesk.evaluation.calibrating.levels import LevelsReport
    from refdesk.evaluation.comparing.statistics import Estimate
    from refdesk.grounding import Grounder

Data = Annotated[
    str,
    typer.Option(
        "--data",
        metavar="DIR|FILE",
        help="Texts with label 1 (faithful) or 0: a folder as SummEdits has it, or .json, .jsonl.",
    ),
]
GrounderName = Annotated[
    str, typer.Option("--grounder", metavar="NAME", help="local, lexical or nli:FOLDER.")
]
Limit = Annotated[
    int | None, typer.Option("--limit", min=1, metavar="N", help="Judge only N texts, drawn by chance.")
]
Missed = Annotated[
    float,
    typer.Option(
        "--max-missed", metavar="SHARE", help="Of faithful texts, below `partial_from`.", show_default=True
    ),
]
ScoreFileOption = Annotated[
    str | None,
    typer.Option(
        "--scores", metavar="FILE", help="Keep scores here; another run judges only what is not in it."
    ),
]
PerText = Annotated[bool, typer.Option("--per-text", help="With --json: the score of every text.")]
Write = Annotated[
    bool,
    typer.Option("--write/--dry-run", help="Write the levels where `ground` reads them, or only show them."),
]
KEPT = "The scores so far are kept; run the same command again to go on."
NOT_KEPT = "No scores are kept; `--scores FILE` keeps them, so that another run goes on."


def add_to(group: typer.Typer) -> None:
    """Add the command."""
    command(group, "levels", asks=True)(levels)


async def levels(
    session: Session,
    data: Data,
    grounder: GrounderName = "local",
    limit: Limit = None,
    max_missed: Missed = 0.1,
    seed: Seed = 0,
    scores: ScoreFileOption = None,
    plot: Plot = None,
    per_text: PerText = False,
    write: Write = True,
) -> None:
    """Measure from which score on a statement is held, and write the levels for the grounder."""
    import random

    from refdesk.chunking import Chunker
    from refdesk.evaluation.calibrating.labelled import read_labelled
    from refdesk.evaluation.calibrating.levels import fit_levels
    from refdesk.evaluation.calibrating.plots import check_plot, plot_levels
    from refdesk.grounding.calibration import write_levels

    if plot:
        check_plot(plot)
    cases = read_labelled(data, seed=seed)
    cases = tuple(random.Random(seed).sample(cases, min(limit or len(cases), len(cases))))
    async with session.desk() as desk:
        judge, embedder = await desk.services.grounder(grounder), await desk.services.embedder()
        chunker = Chunker(embedder.count_tokens, embedder.max_tokens, desk.settings.chunk_tokens or None)
        judged = await _judged(session, cases, judge, chunker, scores)
        path = desk.services.calibration_file
    report = fit_levels(judged, judge, data=data, missed=max_missed, seed=seed)
    if write:
        write_levels(path, report.grounder, report.fitted.levels)
    if plot:
        plot_levels(report, plot)
    if session.json:
        record = report.to_json(per_text=per_text)
        session.print_json({**record, "written": str(path) if write else None, "plot": plot})
        return
    _show(session, report)
    if plot:
        session.note(f"Drawn to {plot}.")
    session.note(f"Written to {path}." if write else f"Nothing was written. Without --dry-run: {path}.")


async def _judged(
    session: Session, cases: "Sequence[Case]", grounder: "Grounder", chunker: "Chunker", scores: str | None
) -> "tuple[Judged, ...]":
    import anyio

    from refdesk.evaluation.calibrating.labelled import LevelScores, judge_labelled
    from refdesk.grounding.calibration import measured_as

    file = LevelScores(scores, {"grounder": measured_as(grounder)}) if scores else None
    try:
        with closing(file) if file else nullcontext(), counting(session, len(cases)) as count:
            return await judge_labelled(cases, grounder, chunker, kept=file, on_case=count)
    except anyio.get_cancelled_exc_class():
        session.note(KEPT if file else NOT_KEPT)
        raise


def _show(session: Session, report: "LevelsReport") -> None:
    fitted, rest = report.fitted_on, {row.kind: row.texts for row in report.fitted.rows}
    say(
        session.out,
        f"Fitted on {fitted['faithful']:,} faithful texts and {fitted['other']:,} others; the rest, of "
        f"{rest['faithful']:,} and {rest['other']:,}, is what follows.",
    )
    say(session.out, report.grounder)
    pairs = (
        ("supported_from", f"{_interval(report.supported_from)}  parts faithful texts and others best"),
        (
            "partial_from",
            f"{_interval(report.partial_from)}  at most {report.missed:.1%} of the faithful below",
        ),
    )
    facts(session.out, pairs)
    say(session.out, "")
    rows = [
        (name, row.kind, row.texts, *map(_share, (row.unsupported, row.partial, row.supported)))
        for name, fit in (("fitted", report.fitted), ("in force", report.in_force))
        for row in fit.rows
    ]
    table(session.out, ("levels", "texts", "count", "unsupported", "partial", "supported"), rows)
    say(session.out, "")
    facts(session.out, tuple(_figures(report)))
    if report.unchecked:
        session.note(f"warning: {report.unchecked} texts could not be judged and are left out.")
    for warning in report.warnings:
        session.note(f"warning: {warning}")


def _figures(report: "LevelsReport") -> "Sequence[tuple[str, str]]":
    accuracy = "balanced accuracy, faithful where nothing is unsupported"
    strict = "balanced accuracy, faithful where all is supported"
    return (
        (accuracy, f"{report.fitted.held:.1%} (in force: {report.in_force.held:.1%})"),
        (strict, f"{report.fitted.supported:.1%} (in force: {report.in_force.supported:.1%})"),
        ("AUC, faithful against others", f"{_interval(report.auc)}"),
    )


def _interval(figure: "Estimate") -> str:
    return f"{figure.value:.3f} ({figure.low:.3f} to {figure.high:.3f})"


def _share(figure: "Estimate") -> str:
    return f"{figure.value:.1%} ({figure.low:.1%} to {figure.high:.1%})"
