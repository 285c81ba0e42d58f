"""`refdesk pipeline`: what pipelines there are, what they do, and what is wrong with a file."""

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from refdesk.cli.exits import ExitCode
from refdesk.cli.options import readable
from refdesk.cli.session import Session, command
from refdesk.cli.tables import table
from refdesk.cli.terminal import one_line, say
from refdesk.errors import PipelineError

if TYPE_CHECKING:
    from refdesk.pipeline import Pipeline, Step

Source = Annotated[
    str, typer.Argument(metavar="NAME|FILE", callback=readable, help="A preset's name, or a YAML file.")
]
FIRST = ("position", "step", "options", "kind", "on_error", "model", "streams")
SECOND = ("position", "step", "reads", "writes", "leaves on failure")


def add_to(app: typer.Typer) -> None:
    """Add the command group."""
    group = typer.Typer(help="Check, show and list pipelines. Nothing is run.")
    command(group, "check")(check)
    command(group, "show")(show)
    command(group, "schema")(schema)
    command(group, "list")(list_pipelines)
    app.add_typer(group, name="pipeline")


def check(session: Session, source: Source) -> None:
    """Print all that is wrong with a pipeline, and exit with 1 where something is."""
    from refdesk.configuration import check_pipeline
    from refdesk.pipeline.checking import placed

    checked = check_pipeline(source)
    count = len(list(placed(checked.pipeline.steps))) if checked.pipeline else None
    if session.json:
        found = {"problems": checked.problems, "remarks": checked.remarks}
        session.print_json({"source": source, "ok": not checked.problems, "steps": count, **found})
    else:
        lines = [str(problem) for problem in checked.problems]
        lines += [f"note: {remark}" for remark in checked.remarks]
        lines += [f"ok: {count} step{'s' if count != 1 else ''}"] if checked.pipeline else []
        for line in lines:
            say(session.out, one_line(line))
    if checked.problems:
        _conclude(session, source, len(checked.problems))


def _conclude(session: Session, source: str, count: int) -> None:
    if not session.json:
        wrong = f"{source!r} has {count} problem{'s' if count != 1 else ''}; nothing was run."
        session.note(f"error [{PipelineError.code}]: {wrong}")
    raise typer.Exit(ExitCode.ERROR)


def show(session: Session, source: Source) -> None:
    """Show the steps of a pipeline: options, what they read and write, what happens when they fail."""
    from refdesk.configuration import load_pipeline

    records = _records(load_pipeline(source))
    if session.json:
        session.print_json(records)
        return
    table(session.out, FIRST, [_first(one) for one in records])
    say(session.out)
    table(session.out, SECOND, [_second(one) for one in records])


def schema(session: Session) -> None:
    """Print the JSON Schema of pipeline files, for editors."""
    from refdesk.configuration import json_schema

    session.print_json(json_schema())


def list_pipelines(session: Session) -> None:
    """List the pipelines that come with refdesk."""
    from refdesk.configuration import presets

    found = presets()
    if session.json:
        session.print_json([{"name": name, "description": text} for name, text in found.items()])
    else:
        table(session.out, ("name", "description"), list(found.items()))


def _records(pipeline: "Pipeline") -> list[dict[str, Any]]:
    from refdesk.configuration import speakers
    from refdesk.pipeline.checking import placed

    shown = [id(step) for step in speakers(pipeline.steps)]
    return [_record(position, step, id(step) in shown) for position, step in placed(pipeline.steps)]


def _record(position: str, step: "Step", streams: bool) -> dict[str, Any]:
    from refdesk.configuration import shown_options

    return {
        "position": position,
        "step": step.name,
        "options": shown_options(step),
        "kind": step.kind,
        "reads": sorted(step.reads),
        "writes": sorted(step.writes),
        "on_error": step.on_error,
        "leaves": step.leaves,
        "needs_llm": step.needs_llm,
        "streams": streams,
    }


def _first(record: dict[str, Any]) -> tuple[object, ...]:
    options = ", ".join(f"{name}: {_written(value)}" for name, value in record["options"].items())
    marks = ("needed" if record["needs_llm"] else "", "yes" if record["streams"] else "")
    return (record["position"], record["step"], options, record["kind"], record["on_error"], *marks)


def _written(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _second(record: dict[str, Any]) -> tuple[object, ...]:
    from refdesk.pipeline.control import EVERYTHING

    sets = ["everything" if set(record[key]) == EVERYTHING else record[key] for key in ("reads", "writes")]
    return (record["position"], record["step"], *sets, record["leaves"])
