"""A command group with one part of `refdesk eval` alone."""

from types import ModuleType

import typer


def part(module: ModuleType) -> typer.Typer:
    """Return an app that has the commands of a module under `eval`."""
    app, group = typer.Typer(), typer.Typer()
    module.add_to(group)
    app.add_typer(group, name="eval")
    return app
