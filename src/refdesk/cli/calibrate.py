"""`refdesk eval calibrate` and `refdesk eval zones`: the limits of zones, fitted and looked at."""

from typing import TYPE_CHECKING, Annotated

import typer

from refdesk.cli.eval_options import DataSource, Into, Plot, Seed, Split
from refdesk.cli.questions import Questions, asked_all
from refdesk.cli.session import Session
from refdesk.cli.zonetables import show_fit, show_zones

if TYPE_CHECKING:
    from refdesk.evaluation.calibrating.zones import ZonesReport

OffTopic = Annotated[
    str | None,
    typer.Option(
        "--off-topic",
        metavar="DIR|FILE",
        help="Questions that the collection does not answer: a folder, a question file in YAML, or a text "
        "with one a line; beside those that the data says are off topic.",
    ),
]
Limit = Annotated[
    int | None,
    typer.Option("--limit", min=1, metavar="N", help="Ask only N questions on topic, drawn by chance."),
]
OffLimit = Annotated[
    int,
    typer.Option("--off-topic-limit", min=1, metavar="N", help="Ask at most N off topic.", show_default=True),
]
ScoreFileOption = Annotated[
    str | None,
    typer.Option(
        "--scores", metavar="FILE", help="Keep scores here; another run asks only what is not in it."
    ),
]
Excerpt = Annotated[
    int | None,
    typer.Option(
        "--excerpt",
        min=20,
        metavar="N",
        help="Let the reranker read only the first N characters of each hit, as `rerank: {excerpt: N}` does.",
    ),
]
PerQuery = Annotated[bool, typer.Option("--per-query", help="With --json: every question with its score.")]
MaxRefused = Annotated[
    float,
    typer.Option(
        "--max-refused",
        metavar="SHARE",
        help="Of questions on topic, below the first limit.",
        show_default=True,
    ),
]
MaxWeak = Annotated[
    float,
    typer.Option(
        "--max-weak",
        metavar="SHARE",
        help="Of questions with right evidence, below the second limit.",
        show_default=True,
    ),
]
Write = Annotated[
    bool,
    typer.Option("--write/--dry-run", help="Write the limits where `assess` reads them, or only show them."),
]
AbstainBelow = Annotated[
    float | None, typer.Option("--abstain-below", metavar="SCORE", help="Instead of the limit in force.")
]
WeakBelow = Annotated[
    float | None, typer.Option("--weak-below", metavar="SCORE", help="Instead of the limit in force.")
]


async def calibrate(
    session: Session,
    data: DataSource,
    off_topic: OffTopic = None,
    split: Split = "",
    collection: Into = None,
    limit: Limit = None,
    off_topic_limit: OffLimit = 300,
    max_refused: MaxRefused = 0.01,
    max_weak: MaxWeak = 0.2,
    seed: Seed = 0,
    scores: ScoreFileOption = None,
    plot: Plot = None,
    excerpt: Excerpt = None,
    per_query: PerQuery = False,
    write: Write = True,
) -> None:
    """Measure from which score on a question is answered, and write the limits for the reranker."""
    from refdesk.evaluation.calibrating.calibration import Rule, calibrate
    from refdesk.reranking.calibration import write_calibration

    rule = Rule(refused=max_refused, weak=max_weak)
    questions = Questions.read(session, data, split, off_topic, collection, limit, off_topic_limit, seed)
    async with session.desk() as desk:
        asked = await asked_all(session, desk, questions, scores, plot, excerpt)
        report = calibrate(
            asked,
            data=questions.data.name,
            split=questions.data.split,
            off_topic=questions.off_name,
            rule=rule,
            seed=seed,
        )
        path = desk.services.calibration_file
    if write:
        write_calibration(path, report.held_out.reranker, report.thresholds)
    _draw(session, report.held_out, plot)
    if session.json:
        record = report.to_json(per_query=per_query)
        session.print_json({**record, "written": str(path) if write else None, "plot": plot})
        return
    show_fit(session, report)
    show_zones(session, report.held_out)
    for warning in report.warnings:
        session.note(f"warning: {warning}")
    session.note(f"Written to {path}." if write else f"Nothing was written. Without --dry-run: {path}.")


async def zones(
    session: Session,
    data: DataSource,
    off_topic: OffTopic = None,
    split: Split = "",
    collection: Into = None,
    limit: Limit = None,
    off_topic_limit: OffLimit = 300,
    abstain_below: AbstainBelow = None,
    weak_below: WeakBelow = None,
    seed: Seed = 0,
    scores: ScoreFileOption = None,
    plot: Plot = None,
    excerpt: Excerpt = None,
    per_query: PerQuery = False,
) -> None:
    """Show what the limits in force, and others, do to questions on topic and off topic."""
    from refdesk.evaluation.calibrating.asking import reranker_of
    from refdesk.evaluation.calibrating.zones import report_zones
    from refdesk.reranking.thresholds import completed

    questions = Questions.read(session, data, split, off_topic, collection, limit, off_topic_limit, seed)
    async with session.desk() as desk:
        asked = await asked_all(session, desk, questions, scores, plot, excerpt)
        known = await desk.services.thresholds(reranker_of(asked))
    limits = completed(known, abstain_below, weak_below)
    named = {"data": questions.data.name, "split": questions.data.split, "off_topic": questions.off_name}
    report = report_zones(asked, limits, **named)
    _draw(session, report, plot)
    if session.json:
        session.print_json({**report.to_json(per_query=per_query), "plot": plot})
    else:
        show_zones(session, report)


def _draw(session: Session, report: "ZonesReport", plot: str | None) -> None:
    from refdesk.evaluation.calibrating.plots import plot_zones

    if plot:
        plot_zones(report, plot)
        if not session.json:
            session.note(f"Drawn to {plot}.")
