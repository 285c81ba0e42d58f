"""What every command shares: the global options, opening the library, and how it ends."""

import inspect
import os
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from functools import partial, wraps
from typing import TYPE_CHECKING, Any, TypeVar

import typer

from refdesk.cli.exits import report
from refdesk.cli.options import As, Json, Library, Verbose
from refdesk.cli.records import write_json
from refdesk.cli.terminal import console, one_line, say

if TYPE_CHECKING:
    from rich.console import Console

    from refdesk.desk import Desk
    from refdesk.settings import Settings

Command = TypeVar("Command", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """One call of a command: its global options and where it prints."""

    library: str | None
    verbose: bool
    json: bool
    out: "Console"
    err: "Console"
    principals: tuple[str, ...] | None = None
    """Who asks, where the command was told."""

    @asynccontextmanager
    async def desk(self, **options: Any) -> "AsyncIterator[Desk]":
        """Open the library; options are fields of `Settings`."""
        from refdesk.desk import aopen

        async with aopen(self.library, **self._asking(), **options) as desk:
            yield desk

    def settings(self, **options: Any) -> "Settings":
        from refdesk.settings import Settings

        return Settings.load({"library": self.library, **self._asking(), **options})

    def _asking(self) -> dict[str, Any]:
        return {} if self.principals is None else {"principals": self.principals}

    def refuse_asker(self, everything: bool) -> None:
        """Refuse `--everything` beside `--as`. Errors: `BadParameter`."""
        if everything and self.principals is not None:
            raise typer.BadParameter(
                "it is for whoever may read it, and --as says who asks; leave out one of them.",
                param_hint="--everything",
            )

    def print_json(self, value: object, *, indent: int | None = 2) -> None:
        write_json(value, indent=indent)

    def note(self, text: str) -> None:
        """Print one line on stderr."""
        say(self.err, one_line(text))

    @property
    def watched(self) -> bool:
        """Whether somebody sees progress."""
        return self.err.is_terminal


GLOBALS = {"library": (Library, None), "verbose": (Verbose, False), "as_json": (Json, False)}


ASKING = {**GLOBALS, "principals": (As, None)}


def command(app: typer.Typer, name: str, *, asks: bool = False) -> Callable[[Command], Command]:
    """Add a command. Its function takes a `Session` before its own options and may be async.

    One that `asks` reads for those whom `--as` names.
    """

    def register(function: Command) -> Command:
        app.command(name)(_with_session(function, ASKING if asks else GLOBALS))
        return function

    return register


def _with_session(function: Callable[..., Any], shared: Mapping[str, tuple[Any, Any]]) -> Callable[..., None]:
    """Put the shared options in the place of the session, so that they are declared once."""

    @wraps(function)
    def call(ctx: typer.Context, **given: Any) -> None:
        named = {name: given.pop(name) for name in shared}
        conclude(partial(function, _session(ctx, **named), **given), verbose=_verbose(ctx, named["verbose"]))

    call.__signature__ = _signature(function, shared)  # type: ignore[attr-defined]
    call.__annotations__ = {}
    return call


def _signature(function: Callable[..., Any], shared: Mapping[str, tuple[Any, Any]]) -> inspect.Signature:
    first, keyword = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY
    own = list(inspect.signature(function, eval_str=True).parameters.values())[1:]
    context = inspect.Parameter("ctx", first, annotation=typer.Context)
    extra = [
        inspect.Parameter(name, keyword, annotation=annotation, default=default)
        for name, (annotation, default) in shared.items()
    ]
    return inspect.Signature([context, *own, *extra])


def _session(
    ctx: typer.Context,
    *,
    library: str | None,
    verbose: bool,
    as_json: bool,
    principals: list[str] | None = None,
) -> Session:
    return Session(
        library=ctx.find_root().params.get("library") if library is None else library,
        verbose=_verbose(ctx, verbose),
        json=as_json,
        out=console(),
        err=console(stderr=True),
        principals=tuple(principals) if principals else None,
    )


def _verbose(ctx: typer.Context, given: bool) -> bool:
    return given or bool(ctx.find_root().params.get("verbose"))


def conclude(call: Callable[[], Any], *, verbose: bool) -> None:
    """Run a command to its end; turn errors into a line and an exit code."""
    try:
        _run(call)
        sys.stdout.flush()
    except (typer.Exit, typer.Abort, typer.BadParameter):
        raise
    except BrokenPipeError:
        _forget_output()
    except Exception as error:
        raise typer.Exit(report(error, verbose=verbose)) from None


def _run(call: Callable[[], Any]) -> None:
    if not inspect.iscoroutinefunction(getattr(call, "func", call)):
        call()
        return
    import anyio

    anyio.run(call)


def _forget_output() -> None:
    """Point stdout at nothing: its reader is gone and has what it wanted."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
