"""`refdesk eval`: how well a library answers, on a data set."""

import typer


def add_to(app: typer.Typer) -> None:
    """Add the command group."""
