"""`refdesk stats`: what a library holds, and what it takes."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import typer

from refdesk.cli.options import Everything
from refdesk.cli.records import plain
from refdesk.cli.session import Session, command
from refdesk.cli.tables import megabytes, table
from refdesk.cli.terminal import say
from refdesk.places import shown

if TYPE_CHECKING:
    from refdesk.desk import Desk

HEADINGS = ("collection", "documents", "chunks", "failed", "skipped", "languages", "embedding")


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    command(app, "stats", asks=True)(stats)


async def stats(session: Session, everything: Everything = False) -> None:
    """Count what may be read in collections, and what failed."""
    session.refuse_asker(everything)
    async with session.desk() as desk:
        record = await _record(desk, everything=everything)
    if session.json:
        session.print_json(record)
        return
    table(session.out, HEADINGS, [_row(one) for one in record["collections"]])
    if everything:
        _show_vectors(session, record["collections"])
    if session.verbose:
        _show_not_read(session, record["collections"])
    say(session.out, f"{megabytes(record['bytes'])} in {record['library']}")


def _row(one: Mapping[str, Any]) -> tuple[object, ...]:
    missed = len(one["failed"]), len(one["skipped"])
    return (one["name"], one["documents"], one["chunks"], *missed, one["languages"], one["fingerprint"])


def _show_vectors(session: Session, collections: Sequence[Mapping[str, Any]]) -> None:
    rows = [
        (one["name"], each["fingerprint"], strategy or "not noted", vectors, _state(each))
        for one in collections
        for each in one["vectors"]
        for strategy, vectors in (each["strategies"] or {"": 0}).items()
    ]
    if rows:
        say(session.out)
        table(session.out, ("collection", "embedding", "strategy", "vectors", "state"), rows)
        say(session.out)


def _state(made: Mapping[str, Any]) -> str:
    """Return whether vectors are searched, or how far they are made."""
    return "searched" if made["current"] else f"being made, {made['missing']:,} documents missing"


def _show_not_read(session: Session, collections: Sequence[Mapping[str, Any]]) -> None:
    rows = [
        (one["name"], source["source_id"], outcome, source["message"])
        for one in collections
        for outcome in ("failed", "skipped")
        for source in one[outcome]
    ]
    if rows:
        say(session.out)
        table(session.out, ("collection", "source", "outcome", "message"), rows)
        say(session.out)


async def _record(desk: "Desk", *, everything: bool) -> dict[str, Any]:
    found = await desk.collections(upkeep=everything)
    collections = [{**plain(one), **await _not_read(desk, one.name)} for one in found]
    if everything:
        for record in collections:
            record["vectors"] = plain(await desk.vector_sets(record["name"]))
    size = await (await desk.services.store()).size()
    return {"library": shown(desk.settings.library), "bytes": size, "collections": collections}


async def _not_read(desk: "Desk", collection: str) -> dict[str, list[Any]]:
    """Return the sources that gave no document when they were last tried, by whether that was an error."""
    from refdesk.ingest.following import NOTHING_IN_IT

    found: dict[str, list[Any]] = {"failed": [], "skipped": []}
    for one in (await desk.failures(collection)).values():
        record = {"source_id": one.source_id, "reason": one.reason, "message": one.message}
        found["skipped" if one.reason in NOTHING_IN_IT else "failed"].append(record)
    return found
