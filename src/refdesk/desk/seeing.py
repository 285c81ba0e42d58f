"""What one who asks sees of collections: their names, and counts of what they may read."""

from collections.abc import Iterable
from dataclasses import replace

from refdesk.desk.services import Services
from refdesk.documents import Collection, Scope
from refdesk.errors import InputError, NotFound
from refdesk.principals import Principals, as_principals
from refdesk.settings import Settings
from refdesk.stores import Reader


def asking(settings: Settings, given: Principals) -> tuple[str, ...]:
    """Return who asks: those that a call names, the settings' ones for None. Errors: `InputError`."""
    return settings.principals if given is None else as_principals(given, "`principals`")


def refuse_upkeep_for(principals: Principals, *, upkeep: bool) -> None:
    """Refuse a call that is to read all, and as somebody. Errors: `InputError`."""
    if upkeep and principals is not None:
        raise InputError(
            f"The call asks as {principals!r:.80}, and `upkeep` reads whoever may read it.",
            remedy="Leave out one of `principals` and `upkeep`.",
        )


def counted(collection: Collection, reader: Reader, count: tuple[int, int]) -> Collection:
    """Return a collection with what a reader of it sees."""
    documents, chunks = count
    return replace(collection, documents=documents, chunks=chunks, languages=reader.languages)


async def seen(
    services: Services, collections: Iterable[Collection], principals: tuple[str, ...]
) -> tuple[Collection, ...]:
    """Return collections with counts of what may be read; one that has been deleted meanwhile is left out."""
    found = []
    for one in collections:
        try:
            reader = await services.reader(Scope((one.name,), principals))
        except NotFound:
            continue
        found.append(counted(one, reader, await reader.count()))
    return tuple(found)
