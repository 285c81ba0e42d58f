"""What one call of `refdesk ingest` brings in, once or again and again."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from refdesk.cli.progress import ingest_progress
from refdesk.cli.session import Session
from refdesk.cli.summaries import show_summary, summary_record

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from refdesk.desk import Desk
    from refdesk.sources import Source


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """Sources and where they go."""

    session: Session
    paths: tuple[str, ...]
    sql: tuple[str, ...] = ()
    """Files that say how databases are read."""
    fields: "Mapping[str, str]" = field(default_factory=dict)
    """Names of the fields of records, where some were given."""
    collection: str | None = None
    glob: str | None = None
    prune: bool = False
    acl: tuple[str, ...] | None = None
    full: bool = False
    dry_run: bool = False
    every: float | None = None
    """Seconds between two looks at the databases; None without any."""

    async def round(self, desk: "Desk", *, compact: bool = False) -> bool:
        """Ingest once and print what became of it. Tell whether no source failed."""
        with ingest_progress(self.session) as listener:
            summary = await desk.ingest(
                *self._sources(desk),
                collection=self.collection,
                glob=self.glob,
                prune=self.prune,
                acl=self.acl,
                full=self.full,
                dry_run=self.dry_run,
                on_event=listener,
            )
        if self.session.json:
            record = summary_record(summary, dry_run=self.dry_run)
            self.session.print_json(record, indent=None if compact else 2)
        else:
            show_summary(self.session, summary, dry_run=self.dry_run)
        return not summary.failures

    def _sources(self, desk: "Desk") -> "list[str | Source]":
        from refdesk.cli.recordfiles import sources

        listed = sources(self.paths, self.fields, root=desk.root) if self.paths or self.fields else []
        return [*listed, *self._databases()]

    def _databases(self) -> "Iterator[Source]":
        """Read the files anew in every round."""
        if self.sql:
            from refdesk.sources.sql import Sql

            yield from map(Sql, self.sql)
