"""The store in Postgres keeps every promise of the contract."""

import itertools
from contextlib import AsyncExitStack, aclosing
from typing import Any

import pytest
from tests.stores.postgres.urls import with_query

from refdesk.stores import Store
from refdesk.stores.postgres import open_postgres
from refdesk.testing.stores import CHECKS, SHARED_CHECKS, Check, SharedCheck

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
async def test_postgres_keeps_the_promise(check: Check, postgres: str) -> None:
    numbers = itertools.count()
    async with AsyncExitStack() as stack:

        async def open_store() -> Store:
            url = with_query(postgres, f"schema=library_{next(numbers)}")
            return await stack.enter_async_context(aclosing(await open_postgres(url)))

        await check(open_store)


class Reopening:
    """Opens one library in any process; those of this process are closed with the stack."""

    def __init__(self, url: str, stack: AsyncExitStack) -> None:
        self.url = url
        self.stack: AsyncExitStack | None = stack

    def __getstate__(self) -> dict[str, Any]:
        return {"url": self.url, "stack": None}

    async def __call__(self) -> Store:
        store = await open_postgres(self.url)
        return await self.stack.enter_async_context(aclosing(store)) if self.stack else store


@pytest.mark.parametrize("check", SHARED_CHECKS, ids=lambda check: check.__name__)
async def test_postgres_keeps_the_promise_in_several_processes(check: SharedCheck, postgres: str) -> None:
    async with AsyncExitStack() as stack:
        await check(Reopening(postgres, stack))
