"""The command `refdesk`."""

import sys
import warnings
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

import refdesk
from refdesk.cli import (
    ask,
    collections,
    conversations,
    documents,
    evaluate,
    ingest,
    models,
    pipelines,
    recheck,
    reembed,
    screening,
    search,
    stats,
    upgrade,
)
from refdesk.cli.exits import ExitCode, report, usage_line
from refdesk.cli.options import Library, Verbose
from refdesk.cli.terminal import tolerant_streams

UsageError: type[Any] = typer.BadParameter.__mro__[1]  # typer exports only this subclass of it


class Refdesk(TyperGroup):
    """The root command; it ends every call with one of `ExitCode`."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as stop:
            sys.stderr.write(f"{str(stop) or 'Interrupted.'}\n")
            raise typer.Exit(ExitCode.INTERRUPTED) from None

    def main(self, *args: Any, **options: Any) -> Any:
        if not options.pop("standalone_mode", True):
            return super().main(*args, **{**options, "standalone_mode": False})
        try:
            code = super().main(*args, **{**options, "standalone_mode": False})
        except UsageError as error:
            where = error.ctx.command_path if error.ctx else "refdesk"
            sys.stderr.write(usage_line(error.format_message(), where) + "\n")
            code = ExitCode.USAGE
        except typer.Abort:
            sys.stderr.write("Nothing was changed.\n")
            code = ExitCode.ERROR
        except Exception as error:
            code = report(error, verbose="-v" in sys.argv or "--verbose" in sys.argv)
        if code == ExitCode.INTERRUPTED and not isinstance(code, ExitCode):
            sys.stderr.write("Interrupted.\n")  # typer's own code: no command had begun
        sys.exit(int(code or 0))


app = typer.Typer(
    name="refdesk",
    cls=Refdesk,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for part in (
    ingest,
    reembed,
    ask,
    recheck,
    search,
    documents,
    collections,
    conversations,
    models,
    pipelines,
    screening,
    stats,
    upgrade,
    evaluate,
):
    part.add_to(app)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"refdesk {refdesk.__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def root(
    ctx: typer.Context,
    library: Library = None,
    verbose: Verbose = False,
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Answer questions from your documents, with checked citations."""
    if ctx.invoked_subcommand is None:
        typer.echo(ctx.get_help())


def main() -> None:
    """Run the command line of this process."""
    tolerant_streams()
    if not sys.warnoptions:
        warnings.simplefilter("ignore")
    app(prog_name="refdesk")
