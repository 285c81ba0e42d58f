"""Write the generated parts of the docs, or with `--check` name the files where they are stale.

A part stands between `<!-- generated: NAME -->` and `<!-- end -->`; `PARTS` has the names.
"""

import ast
import inspect
import re
import sys
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import MISSING, fields
from functools import partial
from pathlib import Path
from typing import Any, get_args, get_origin

import public_tables
import typer
from tables import table
from typer.main import get_command

from refdesk import errors, settings
from refdesk.cli.exits import ExitCode
from refdesk.cli.main import app
from refdesk.configuration import options_of
from refdesk.pipeline import Step
from refdesk.pipeline.control import EVERYTHING
from refdesk.sources.sql import form
from refdesk.steps import BUILTIN

ROOT = Path(__file__).resolve().parent.parent
PART = re.compile(r"(<!-- generated: (?P<name>[\w -]+) -->\n).*?(<!-- end -->)", re.DOTALL)
COLUMNS = 100


def command_line() -> str:
    """Return the help of every command."""
    return "\n".join(
        f"## {' '.join(ctx.command_path.split())}\n\n```text\n{ctx.get_help().rstrip()}\n```\n"
        for ctx in contexts(get_command(app), None, "refdesk")
    )


def contexts(command: Any, parent: Any, name: str) -> Iterator[Any]:
    """Yield the context of a command and of all commands below it."""
    ctx = typer.Context(command, parent=parent, info_name=name, terminal_width=COLUMNS)
    ctx.help_option_names = ["-h", "--help"]
    yield ctx
    for below in getattr(command, "commands", {}).items():
        yield from contexts(below[1], ctx, below[0])


def exit_codes() -> str:
    """Return what each exit code means."""
    return table(("code", "meaning"), [(str(code.value), code.meaning) for code in ExitCode])


def settings_table() -> str:
    """Return every setting with its variable, default, allowed values and meaning."""
    documented = field_docs(settings.Settings)
    rows = [
        (
            f"`{field.name}`",
            f"`{settings.PREFIX}{field.name.upper()}`",
            shown_default(field.default),
            allowed(field.name),
            documented.get(field.name, ""),
        )
        for field in fields(settings.Settings)
    ]
    return table(("setting", "variable", "default", "values", "meaning"), rows)


def shown_default(value: object) -> str:
    """Return a default as one writes it."""
    if isinstance(value, tuple):
        return ", ".join(f"`{one}`" for one in value)
    return f"`{value}`" if value not in ("", MISSING) else ""


def allowed(name: str) -> str:
    """Return what a setting takes: its choices, or its type and least value."""
    if name in settings.CHOICES:
        return ", ".join(f"`{choice}`" for choice in settings.CHOICES[name])
    kind = settings.KINDS[name]
    if get_origin(kind) is Mapping:
        return "table; as variable a JSON object"
    if get_origin(kind) is tuple:
        return "names; as variable with commas between, or a JSON array"
    least = f", at least {settings.LEAST[name]:g}" if name in settings.LEAST else ""
    words = {str: "text", int: "whole number", float: "number", bool: "`true`, `false`"}
    return words[str if get_args(kind) else kind] + least


def field_docs(owner: type) -> dict[str, str]:
    """Return the docstrings that stand under the fields of a class."""
    tree = ast.parse(inspect.getsource(owner)).body[0]
    assert isinstance(tree, ast.ClassDef), "the source of a class is a class"
    found = {}
    for field, below in zip(tree.body, tree.body[1:], strict=False):
        match field, below:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(text))):
                found[name] = " ".join(text.split())
    return found


def error_codes() -> str:
    """Return every error with its code and meaning, in the order of the tree."""
    rows = [
        (f"`{kind.code}`", "&nbsp;" * 4 * depth + f"`{kind.__name__}`", inspect.getdoc(kind) or "")
        for kind, depth in tree(errors.RefdeskError)
    ]
    return table(("code", "class", "meaning"), rows)


def tree(kind: type[errors.RefdeskError], depth: int = 0) -> Iterator[tuple[type[errors.RefdeskError], int]]:
    """Yield an error class and all below it, with their depth."""
    yield kind, depth
    for below in kind.__subclasses__():
        yield from tree(below, depth + 1)


def steps_table() -> str:
    """Return every step with its kind, what it does, reads and writes, and what happens when it fails."""
    headings = ("step", "kind", "does", "reads", "writes", "`on_error`", "when it fails")
    return table(headings, [step_row(step) for step in BUILTIN])


def step_row(step: type[Step]) -> tuple[str, ...]:
    """Return the row of a step."""
    does = (inspect.getdoc(step) or "").split("\n\n")[0].replace("\n", " ")
    policy = next(one.default for one in options_of(step) if one.name == "on_error")
    return (
        f"`{step.name}`",
        step.kind,
        does,
        names(step.reads),
        names(step.writes),
        f"`{policy}`",
        step.leaves,
    )


def names(fields_of_context: Collection[str]) -> str:
    """Return names of fields as code."""
    if set(fields_of_context) == EVERYTHING:
        return "everything"
    return ", ".join(f"`{name}`" for name in sorted(fields_of_context))


def step_options(step: type[Step]) -> str:
    """Return the options of a step."""
    rows = [
        (f"`{one.name}`", one.values, f"`{one.default}`" if one.default else "", one.meaning)
        for one in options_of(step)
    ]
    return table(("option", "values", "default", "meaning"), rows)


def source_keys(keys: Mapping[str, form.Key]) -> str:
    """Return the keys of a part of a file for an SQL source."""
    rows = [(f"`{name}`", key.values, key.default, key.meaning) for name, key in keys.items()]
    return table(("key", "values", "default", "meaning"), rows)


PARTS: Mapping[str, Callable[[], str]] = {
    "public retrieval": public_tables.retrieval,
    "public languages": public_tables.languages,
    "public rewriting": public_tables.rewriting,
    "public grounding": public_tables.grounding,
    "command line": command_line,
    "exit codes": exit_codes,
    "settings": settings_table,
    "error codes": error_codes,
    "steps": steps_table,
    "sql source": partial(source_keys, form.TOP),
    "sql map": partial(source_keys, form.MAP),
    "sql sync": partial(source_keys, form.SYNC),
    **{f"step {step.name}": partial(step_options, step) for step in BUILTIN},
}


def regenerated(text: str) -> str:
    """Return a page with all its parts new. Errors: `KeyError` for a name that is no part."""
    return PART.sub(lambda part: f"{part[1]}\n{PARTS[part['name']]()}\n{part[3]}", text)


def main(check: bool) -> int:
    """Write stale pages, or name them; return the exit code."""
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    stale = {page: new for page in pages if (new := regenerated(old := page.read_text("utf-8"))) != old}
    for page, new in stale.items():
        if not check:
            page.write_text(new, "utf-8")
        print(f"{'stale' if check else 'written'}: {page.relative_to(ROOT)}")
    if check and stale:
        print("Run: make docs")
    return int(check and bool(stale))


if __name__ == "__main__":
    sys.exit(main(check="--check" in sys.argv[1:]))
