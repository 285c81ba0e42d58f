"""`refdesk eval`: how well a library finds and answers, on data sets with known answers."""

import typer

from refdesk.cli import (
    calibrate,
    eval_compare,
    eval_data,
    eval_generate,
    eval_levels,
    eval_report,
    eval_rewriting,
    eval_run,
    eval_safety,
    eval_sweep,
    faithfulness,
    retrieval,
)
from refdesk.cli.session import command


def add_to(app: typer.Typer) -> None:
    """Add the command group."""
    group = typer.Typer(help="Measure quality on data sets with known answers.")
    command(group, "retrieval", asks=True)(retrieval.retrieval)
    command(group, "calibrate", asks=True)(calibrate.calibrate)
    command(group, "zones", asks=True)(calibrate.zones)
    command(group, "grounding")(faithfulness.grounding)
    command(group, "rewriting", asks=True)(eval_rewriting.rewriting)
    parts = (
        eval_data,
        eval_run,
        eval_compare,
        eval_report,
        eval_sweep,
        eval_safety,
        eval_generate,
        eval_levels,
    )
    for part in parts:
        part.add_to(group)
    app.add_typer(group, name="eval")
