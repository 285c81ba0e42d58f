"""A reader holds no connection, whatever becomes of its searches."""

from contextlib import aclosing

import anyio
import anyio.lowlevel
import pytest

from refdesk.documents import Scope
from refdesk.stores.postgres import open_postgres
from refdesk.testing.stores.samples import put, sample, vector

pytestmark = pytest.mark.anyio


async def test_searches_that_are_given_up_leave_room_for_others(postgres: str) -> None:
    async with aclosing(await open_postgres(postgres, connections=2)) as store:
        await put(store, *(sample(f"s{number}", f"words {number}") for number in range(50)))
        reader = await store.reader(Scope())
        for steps in range(12):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(lambda: reader.vector_search(vector("x"), top_k=5))
                for _ in range(steps * 3):
                    await anyio.lowlevel.checkpoint()
                tasks.cancel_scope.cancel()
        with anyio.fail_after(60):
            assert len(await reader.keyword_search(["words"], top_k=3)) == 3
            assert await reader.count() == (50, 50)


async def test_many_searches_share_few_connections(postgres: str) -> None:
    async with aclosing(await open_postgres(postgres, connections=2)) as store:
        await put(store, sample("a", "words"))
        readers = [await store.reader(Scope()) for _ in range(20)]
        found: list[int] = []

        async def search(number: int) -> None:
            found.append(len(await readers[number].vector_search(vector("x"), top_k=5)))

        async with anyio.create_task_group() as tasks:
            for number in range(20):
                tasks.start_soon(search, number)
        assert found == [1] * 20
