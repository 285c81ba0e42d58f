"""Open the store that a library names: a folder, or a database by its URL."""

from refdesk import places
from refdesk.plugins import load_late
from refdesk.stores import Store
from refdesk.stores.lance import open_lance


async def open_store(library: str, *, read_only: bool = False) -> Store:
    """Open a library; a missing one is made, or with `read_only` is `NotFound`.

    Errors: `MissingExtra`, `InputError` for a URL that cannot be read, `StoreError`.
    """
    if not places.in_database(library):
        return await open_lance(library, read_only=read_only)
    store: Store = await load_late("refdesk.stores.postgres").open_postgres(library, read_only=read_only)
    return store
