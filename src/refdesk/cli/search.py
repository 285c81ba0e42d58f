"""`refdesk search`: the chunks that are found, and how."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from refdesk.cli.conditions import joined
from refdesk.cli.options import Collections, Filters, FusionChoice, ModeChoice, Question, TopK
from refdesk.cli.records import results_record
from refdesk.cli.session import Session, command
from refdesk.cli.tables import facts
from refdesk.cli.terminal import one_line, say

if TYPE_CHECKING:
    from refdesk.documents import Hit
    from refdesk.retrieval import Arm, Explanation

SNIPPET = 300
"""Characters of a chunk that are shown; JSON has all of it."""

Rerank = Annotated[bool, typer.Option("--rerank", help="Order the hits by the reranker.")]
Neighbours = Annotated[
    int, typer.Option("--neighbours", min=0, metavar="N", help="Show N chunks before and after each hit.")
]
Explain = Annotated[bool, typer.Option("--explain", help="Say what each arm found and what filters removed.")]


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    command(app, "search", asks=True)(search)


async def search(
    session: Session,
    question: Question,
    collections: Collections = None,
    mode: ModeChoice = None,
    fusion: FusionChoice = None,
    top_k: TopK = None,
    filters: Filters = None,
    rerank: Rerank = False,
    neighbours: Neighbours = 0,
    explain: Explain = False,
) -> None:
    """Find chunks, best first."""
    filter = joined(filters)
    async with session.desk() as desk:
        results = await desk.search(
            question,
            collections=collections,
            mode=mode,
            fusion=fusion,
            top_k=top_k,
            filters=filter,
            rerank=rerank,
            neighbours=neighbours,
        )
    if session.json:
        session.print_json(results_record(results, explain=explain))
        return
    for hit in results.hits:
        _show_hit(session, hit)
    if results.explanation.message:
        session.note(f"no hits [{results.explanation.reason}]: {results.explanation.message}")
    if explain:
        facts(session.out, list(_explained(results.explanation)))


def _show_hit(session: Session, hit: "Hit") -> None:
    """Print where a hit is from, its scores and the beginning of its text."""
    page = f", page {hit.chunk.page}" if hit.chunk.page is not None else ""
    say(session.out, f"{hit.rank}. {one_line(hit.title)}{page} — {hit.url or hit.source_id}", "bold")
    path = one_line(" › ".join(hit.chunk.heading_path))
    say(session.out, "  ".join(filter(None, (path, scores(hit)))), indent=3)
    say(session.out, one_line(hit.chunk.text, SNIPPET), indent=3)
    say(session.out)


def scores(hit: "Hit") -> str:
    """Return the scores that were computed, by name."""
    named = {
        "rerank": hit.rerank_score,
        "fused": hit.fused_score,
        "vector": hit.vector_score,
        "keyword": hit.keyword_score,
    }
    return " ".join(f"{name} {score:.3f}" for name, score in named.items() if score is not None)


def _explained(explanation: "Explanation") -> Iterator[tuple[str, object]]:
    yield "mode", f"{explanation.mode} ({explanation.fusion})" if explanation.fusion else explanation.mode
    yield "languages", explanation.languages
    yield "words", " ".join(explanation.tokens)
    for arm in explanation.arms:
        yield arm.name, _arm(arm)
    if len(explanation.arms) > 1:
        yield "in both", f"{explanation.shared:,}"
    yield "in scope", f"{explanation.documents:,} documents, {explanation.chunks:,} chunks"
    if explanation.removed_documents:
        left = f"{explanation.matching_documents:,} documents, {explanation.matching_chunks:,} chunks"
        yield "filter leaves", f"{left}; it removed {explanation.removed_documents:,} documents"
    yield "time", f"{explanation.seconds * 1000:.0f} ms"


def _arm(arm: "Arm") -> str:
    if arm.error:
        return f"failed: {one_line(arm.error)}"
    span = f", scores {arm.best:.3f} to {arm.worst:.3f}" if arm.best is not None else ""
    return f"{arm.found:,} found{span}, {arm.seconds * 1000:.0f} ms"
