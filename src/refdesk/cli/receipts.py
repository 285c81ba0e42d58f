"""What was deleted: where from, and what is left of it."""

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from refdesk.cli.session import Session
from refdesk.cli.tables import facts
from refdesk.cli.terminal import say

if TYPE_CHECKING:
    from refdesk.documents import DeleteReceipt

Answers = Annotated[
    bool, typer.Option("--answers", help="Delete answers in conversations that cite it, too.")
]
Wipe = Annotated[
    bool,
    typer.Option("--wipe", help="Leave nothing of it in files that readers of the past may still use."),
]


def show_receipt(session: Session, receipt: "DeleteReceipt", done: str) -> None:
    """Print a receipt, with the evaluation runs of the library that have something of the documents."""
    receipt = _with_runs(session, receipt)
    if session.json:
        session.print_json(receipt)
        return
    say(session.out, done)
    facts(session.out, list(_lines(receipt)))


def _with_runs(session: Session, receipt: "DeleteReceipt") -> "DeleteReceipt":
    from refdesk.cli.eval_runs import store_of
    from refdesk.errors import StoreError
    from refdesk.evaluation.runs.quoting import runs_with

    try:
        runs = runs_with(store_of(session, None), receipt.collection, receipt.source_ids)
    except StoreError as error:
        session.note(f"warning: evaluation runs could not be looked through: {error}")
        return receipt
    return replace(receipt, runs=runs)


def _lines(receipt: "DeleteReceipt") -> Iterator[tuple[str, str]]:
    yield "documents", f"{receipt.documents:,}"
    yield "chunks", f"{receipt.chunks:,}"
    yield "vectors", f"{receipt.vectors:,}"
    yield "full text", f"{receipt.full_text:,} chunks"
    yield "ledger", f"{receipt.ledger:,} sources, {receipt.failures:,} notes of failures"
    yield "conversations", f"{receipt.kept_hits:,} kept passages, {_answers(receipt)}"
    yield "caches", ", ".join(receipt.caches) or "none: documents, vectors and answers are not cached"
    if receipt.runs:
        yield "still in", f"evaluation runs {', '.join(receipt.runs)}: refdesk eval runs rm NAME"
    if not receipt.wiped:
        yield "files", "read by nobody who begins now; to leave nothing in them: refdesk collections wipe"


def _answers(receipt: "DeleteReceipt") -> str:
    if receipt.answers_deleted:
        return f"{receipt.answers:,} answers that cited it"
    return f"{receipt.answers:,} answers that cite it are still there" if receipt.answers else "no answers"
