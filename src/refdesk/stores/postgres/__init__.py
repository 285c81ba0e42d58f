"""A library in Postgres with pgvector: several machines may share it. Comes with the extra `postgres`.

- `store`: `open_postgres` and the store
- `address`, `connecting`, `translating`: the URL, connections and transactions, errors in our own words
- `schema`, `migrations`: the tables and their version
- `catalogue`, `records`, `ledger`, `chunkrows`, `embedded`, `successors`: what is in the tables
- `writing`, `remaking`, `maintaining`, `wiping`: what changes it
- `reader` and what it needs: searching and reading
"""

from typing import TYPE_CHECKING, Any

from refdesk.plugins import load_extra, load_late

if TYPE_CHECKING:
    from refdesk.stores.postgres.store import PostgresStore, open_postgres

EXTRA = "postgres"
PACKAGES = ("psycopg", "psycopg_pool", "pgvector")

__all__ = ["PostgresStore", "open_postgres"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(name)
    for package in PACKAGES:
        load_extra(package, EXTRA)
    return getattr(load_late("refdesk.stores.postgres.store"), name)
