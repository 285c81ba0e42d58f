"""What one call of `refdesk ingest` brings in, once or again and again."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from refdesk.cli.progress import ingest_progress
from refdesk.cli.session import Session
from refdesk.cli.summaries import show_summary, summary_record

if TYPE_CHECKING:
    from collections.abc import Mapping

    from refdesk.desk import Desk
    from refdesk.sources import Source


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """Sources and where they go."""

    session: Session
    paths: tuple[str, ...]
    fields: "Mapping[str, str]" = field(default_factory=dict)
    """Names of the fields of records, where some were given."""
    collection: str | None = None
    glob: str | None = None
    prune: bool = False

    async def round(self, desk: "Desk", *, compact: bool = False) -> bool:
        """Ingest once and print what became of it. Tell whether no source failed."""
        with ingest_progress(self.session) as listener:
            summary = await desk.ingest(
                *self._sources(desk),
                collection=self.collection,
                glob=self.glob,
                prune=self.prune,
                on_event=listener,
            )
        if self.session.json:
            self.session.print_json(summary_record(summary), indent=None if compact else 2)
        else:
            show_summary(self.session, summary)
        return not summary.failures

    def _sources(self, desk: "Desk") -> "list[str | Source]":
        from refdesk.cli.recordfiles import sources

        return sources(self.paths, self.fields, root=desk.root)
