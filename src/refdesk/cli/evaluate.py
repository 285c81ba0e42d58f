"""`refdesk eval`: how well a library finds and answers, on data sets with known answers."""

import typer

from refdesk.cli import calibrate, eval_rewriting, faithfulness, retrieval
from refdesk.cli.session import command


def add_to(app: typer.Typer) -> None:
    """Add the command group."""
    group = typer.Typer(help="Measure quality on data sets with known answers.")
    command(group, "retrieval")(retrieval.retrieval)
    command(group, "calibrate")(calibrate.calibrate)
    command(group, "zones")(calibrate.zones)
    command(group, "grounding")(faithfulness.grounding)
    command(group, "rewriting")(eval_rewriting.rewriting)
    app.add_typer(group, name="eval")
