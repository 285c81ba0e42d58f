"""What a walk over a followed source shows: changed permissions, and what is gone."""

from collections.abc import AsyncGenerator, Iterable, Mapping
from dataclasses import dataclass, field, replace

from refdesk.errors import InputError, SourceError
from refdesk.events import SourceFinished
from refdesk.ingest.listing import Listed, all_of
from refdesk.ingest.storing import DUPLICATE
from refdesk.principals import as_principals
from refdesk.sources import VERSION_KEY, Followed, SourceFailure, SourceGone, SourceMark, SourcePresent
from refdesk.stores import Entry, Failure

NOTHING_IN_IT = frozenset({"empty", "unsupported"})
"""Parse reasons that make a source skipped instead of failed."""

FEW = 10
"""So many documents may vanish at once whatever their share is."""
TOO_MANY = "too_many_gone"


@dataclass(kw_only=True)
class Walk:
    """One walk, and what of the collection it is about."""

    source: Followed
    known: Mapping[str, Entry]
    """The documents of the source that are stored."""
    seen: set[str] = field(default_factory=set)
    gone: set[str] = field(default_factory=set)
    unreadable: set[str] = field(default_factory=set)
    """Documents of which nobody may read anything."""
    mark: str = ""
    """The cursor at its end; empty until there."""

    def take(
        self, found: SourcePresent | SourceFailure | SourceGone | SourceMark
    ) -> Entry | SourceGone | SourceFinished | None:
        """Return what is to be done about one thing that the walk met."""
        match found:
            case SourceMark(cursor=cursor):
                self.mark = cursor
            case SourceFailure():
                return SourceFinished(found.source_id, "failed", 0, found.reason, found.message)
            case SourceGone():
                self.gone.add(found.source_id)
                return found if found.source_id in self.known else None
            case SourcePresent():
                return self._present(found)
        return None

    def _present(self, found: SourcePresent) -> Entry | SourceFinished | None:
        if found.source_id in self.seen:
            message = f"The source has {found.source_id!r} twice; the first one was taken."
            return SourceFinished(found.source_id, "failed", 0, DUPLICATE, message)
        self.seen.add(found.source_id)
        acl = _readers(found)
        if not acl:
            self.unreadable.add(found.source_id)
        entry = self.known.get(found.source_id)
        return None if entry is None or entry.acl == acl else replace(entry, acl=acl)

    @property
    def vanished(self) -> tuple[str, ...]:
        """What is stored and was neither there nor said to be deleted."""
        return tuple(name for name in self.known if name not in self.seen and name not in self.gone)

    def lacks(self, source_id: str) -> bool:
        """Tell whether an id is of this source, or means the source itself, and was not met."""
        mine = source_id == self.source.name or self.source.covers(source_id, None)
        return mine and source_id not in self.seen

    def doubt(self) -> SourceFinished | None:
        """Return why what vanished should stay: a source that suddenly has little may be broken."""
        vanished, known = len(self.vanished), len(self.known)
        if not vanished or (self.seen and vanished <= max(FEW, self.source.remove_at_most * known)):
            return None
        message = (
            f"{vanished:,} of {known:,} documents are not in the source any more; none of them was removed. "
            "Look at the source; where it is right, run once with --prune (prune=True)."
        )
        return SourceFinished(self.source.name, "failed", 0, TOO_MANY, message)


def _readers(found: SourcePresent) -> tuple[str, ...]:
    """Return who may read something; nobody where that cannot be understood."""
    try:
        return as_principals(found.acl, f"The ACL of {found.source_id!r}")
    except InputError:
        return ()


def settled(
    ledger: Mapping[str, Entry], noted: Mapping[str, Failure], tried: Iterable[str]
) -> dict[str, str | None]:
    """Return the ids that a walk need not read again: stored, tried now, or with nothing in them.

    Those that are stored are with the version that was read.
    """
    empty = {name for name, failure in noted.items() if failure.reason in NOTHING_IN_IT}
    stored = {
        name: str(entry.metadata.get(VERSION_KEY, ""))
        for name, entry in ledger.items()
        if name in empty or name not in noted
    }
    return {**stored, **dict.fromkeys({*tried, *empty})}


async def walked(walk: Walk, cursor: str, known: Mapping[str, str | None]) -> AsyncGenerator[Listed, None]:
    """Yield what is to be done about what a walk meets. Errors: `SourceError` where it does not end."""
    async for found in all_of(walk.source.walk(cursor, known)):
        if change := walk.take(found):
            yield change
    if not walk.mark:
        raise SourceError(f"The walk over {walk.source.name!r} broke off.", remedy="Run it again.")
