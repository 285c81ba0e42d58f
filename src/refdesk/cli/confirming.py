"""Ask before something is deleted."""

import sys

import typer

from refdesk.errors import InputError


def confirm(question: str, doing: str, *, yes: bool) -> None:
    """Ask on the terminal; a no ends the command. Errors: `InputError` where nobody can be asked.

    To be called before an event loop runs, whose Ctrl-C would not end the question.
    """
    if yes:
        return
    if not sys.stdin.isatty():
        raise InputError(f"{doing} needs a confirmation, and nobody can be asked.", remedy="Add --yes.")
    typer.confirm(question, abort=True, err=True)
