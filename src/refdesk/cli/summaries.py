"""What an ingestion did, for people and as JSON."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, get_args

from refdesk.cli.session import Session
from refdesk.cli.tables import table
from refdesk.cli.terminal import say
from refdesk.documents import PUBLIC
from refdesk.events import Outcome, SourceFinished

if TYPE_CHECKING:
    from refdesk.ingest import Summary

LISTED = 10
"""Failures and skips that are listed one by one; more are grouped, except with -v."""


def summary_record(summary: "Summary", *, dry_run: bool = False) -> dict[str, Any]:
    """Return what `ingest --json` prints."""
    return {
        **({"dry_run": True} if dry_run else {}),
        "collection": summary.collection,
        "documents": summary.documents,
        "chunks": summary.chunks,
        "counts": {outcome: summary.counts.get(outcome, 0) for outcome in get_args(Outcome)},
        "updated_only": summary.only,
        "hidden": summary.hidden,
        "refused": summary.refused,
        "withheld": summary.withheld,
        "acl": [*summary.acl],
        "unsaid": summary.unsaid,
        "texts": summary.texts,
        "embedded": summary.embedded,
        "seconds": round(summary.seconds, 3),
        "failed": [_record(one) for one in summary.failures],
        "skipped": [_record(one) for one in summary.skipped],
    }


def show_summary(session: Session, summary: "Summary", *, dry_run: bool = False) -> None:
    """Print counts by outcome, failures and skips with reasons, and what the store holds."""
    told = ", ".join(_outcome(summary, outcome) for outcome in get_args(Outcome) if outcome in summary.counts)
    dry = "would be: " if dry_run and told else ""
    say(session.out, f"{dry}{told or 'nothing found'} in {summary.seconds:.1f} s")
    _show_missed(session, sorted(summary.failures, key=_place) + sorted(summary.skipped, key=_place))
    for line in _readers(summary):
        say(session.out, line)
    if summary.embedded < summary.texts:
        done = "would embed" if dry_run else "embedded"
        say(session.out, f"{done} {summary.embedded:,} of {summary.texts:,} texts")
    held = f"{summary.documents:,} documents, {summary.chunks:,} chunks"
    would, how = ("would be ", "nothing was written") if dry_run else ("", "counted in the store")
    say(session.out, f"{held} {would}in collection {summary.collection} ({how})")


def _readers(summary: "Summary") -> Iterator[str]:
    """Yield what has to be said of who may read what was listed."""
    if summary.unsaid:
        who = "everyone" if PUBLIC in summary.acl else ", ".join(summary.acl)
        yield f"{summary.unsaid:,} without an ACL of their own: readable by {who} (setting acl)"
    if summary.hidden:
        yield f"{summary.hidden:,} of what was listed may be read by nobody: the ACL is empty"
    if summary.refused:
        yield f"{summary.refused:,} not stored: the ACL cannot be understood"
    if summary.withheld:
        yield f"{summary.withheld:,} stored before, now read by nobody: the ACL cannot be understood"


def _outcome(summary: "Summary", outcome: Outcome) -> str:
    only = ", ".join(f"only {what} {count:,}" for what, count in sorted(summary.only.items()))
    shown = f" ({only})" if outcome == "updated" and only else ""
    return f"{outcome} {summary.counts[outcome]:,}{shown}"


def _show_missed(session: Session, missed: Sequence[SourceFinished]) -> None:
    if not missed:
        return
    say(session.out)
    if len(missed) <= LISTED or session.verbose:
        rows = [(one.source_id, one.outcome, one.reason, one.message) for one in missed]
        table(session.out, ("source", "outcome", "reason", "message"), rows)
    else:
        table(session.out, ("outcome", "reason", "sources", "for example"), _grouped(missed))
        session.note("-v lists them one by one.")
    say(session.out)


def _grouped(missed: Sequence[SourceFinished]) -> list[tuple[str, str, int, str]]:
    first: dict[tuple[Outcome, str], str] = {}
    for one in missed:
        first.setdefault((one.outcome, one.reason), one.source_id)
    sizes = Counter((one.outcome, one.reason) for one in missed)
    return [
        (outcome, reason, sizes[outcome, reason], example) for (outcome, reason), example in first.items()
    ]


def _place(one: SourceFinished) -> str:
    return one.source_id


def _record(one: SourceFinished) -> dict[str, str]:
    return {"source_id": one.source_id, "reason": one.reason, "message": one.message}
