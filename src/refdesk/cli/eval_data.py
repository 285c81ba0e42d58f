"""`refdesk eval data`: what a data set holds, and whether its gold is in a library."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from refdesk.cli.progress import counting
from refdesk.cli.session import Session, command
from refdesk.cli.tables import facts, table
from refdesk.cli.terminal import say
from refdesk.errors import InputError

if TYPE_CHECKING:
    from refdesk.evaluation.datasets.cases import DataSet
    from refdesk.evaluation.datasets.dataoverview import Overview
    from refdesk.evaluation.datasets.goldcheck import LostGold

SourcePath = Annotated[
    str,
    typer.Argument(
        metavar="SOURCE",
        help="A folder as BEIR has it, a question file (.yaml, .jsonl), or a .json file as SQuAD has it.",
    ),
]
Split = Annotated[str, typer.Option("--split", metavar="NAME", help="Of several, else `test`.")]
Where = Annotated[
    str | None,
    typer.Option("--collection", "-c", metavar="NAME", help="Check that all gold is in this collection."),
]
SHOWN = 20


def add_to(group: typer.Typer) -> None:
    """Add the command."""
    command(group, "data", asks=True)(data)


async def data(session: Session, source: SourcePath, split: Split = "", collection: Where = None) -> None:
    """Show what a data set holds; with a collection, check that the library has what it is about."""
    from refdesk.evaluation.datasets.dataoverview import overview
    from refdesk.evaluation.datasets.reading import read_data

    found = read_data(source, split=split)
    lost = None if collection is None else await _lost(session, found, collection)
    if session.json:
        checked = None if lost is None else {"name": collection, "lost": [_record(one) for one in lost]}
        session.print_json({**overview(found).to_json(), "collection": checked})
    else:
        _show(session, overview(found))
        _show_lost(session, collection, lost)
    if lost:
        raise InputError(
            f"{len(lost)} of what {found.name!r} expects is not in the collection {collection!r}.",
            remedy="Ingest what is missing, or mend the data set.",
        )


async def _lost(session: Session, data: "DataSet", collection: str) -> "Sequence[LostGold]":
    from refdesk.evaluation.datasets.goldcheck import lost_gold, quoted_documents, stored_gold

    async with session.desk() as desk:
        with counting(session, len(quoted_documents(data))) as count:
            texts = await stored_gold(desk, data, collection=collection, on_text=count)
            return lost_gold(data.cases, texts)


def _record(lost: "LostGold") -> dict[str, Any]:
    return {
        "case": lost.case_id,
        "document": lost.gold.document,
        "quote": lost.gold.quote,
        "missing": "document" if lost.missing else "quote",
    }


def _show(session: Session, found: "Overview") -> None:
    say(session.out, f"{found.name}{f', {found.split}' if found.split else ''}", "bold")
    facts(session.out, _rows(found))
    if found.tags:
        say(session.out)
        tags = list(found.tags.items())
        table(session.out, ("tag", "questions"), tags if session.verbose else tags[:SHOWN])
        if len(tags) > SHOWN and not session.verbose:
            say(session.out, f"… and {len(tags) - SHOWN} other tags; -v shows all.")
    for warning in found.warnings:
        session.note(f"warning: {warning}")


def _rows(found: "Overview") -> list[tuple[str, object]]:
    """Return names and counts; those of what is not there are left out."""
    off = found.cases - found.answerable
    return [
        ("questions", found.cases),
        ("not answered by the documents", off or None),
        ("with gold", found.with_gold),
        ("with several needs", found.several_needs or None),
        ("with alternatives", found.alternatives or None),
        ("with answers", found.with_answers or None),
        ("in conversations", found.conversations or None),
        ("gold documents", found.gold_documents),
        ("gold spans", found.gold_spans or None),
        ("documents", found.documents or "none of its own"),
        ("characters", found.characters or None),
        ("languages", tuple(found.languages)),
        ("digest", found.digest),
    ]


def _show_lost(session: Session, collection: str | None, lost: "Sequence[LostGold] | None") -> None:
    if lost is None:
        return
    say(session.out)
    if not lost:
        say(session.out, f"All gold is in the collection {collection}.")
        return
    say(session.out, f"Not in the collection {collection}:")
    shown = lost if session.verbose else lost[:SHOWN]
    rows = [(one.case_id, one.gold.document, one.gold.quote[:80] if not one.missing else "") for one in shown]
    table(session.out, ("question", "document", "quote that it lacks"), rows)
    if len(lost) > len(shown):
        say(session.out, f"… and {len(lost) - len(shown)} more; -v shows all.")
