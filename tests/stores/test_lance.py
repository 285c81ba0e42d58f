"""The embedded store keeps every promise of the contract."""

from functools import partial
from pathlib import Path

import pytest

from refdesk.stores import Store
from refdesk.stores.lance import open_lance
from refdesk.testing.stores import CHECKS, SHARED_CHECKS, Check, SharedCheck

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
async def test_lance_keeps_the_promise(check: Check, tmp_path: Path) -> None:
    opened = 0

    async def open_store() -> Store:
        nonlocal opened
        opened += 1
        return await open_lance(tmp_path / f"library {opened}")

    await check(open_store)


@pytest.mark.parametrize("check", SHARED_CHECKS, ids=lambda check: check.__name__)
async def test_lance_keeps_the_promise_in_several_processes(check: SharedCheck, tmp_path: Path) -> None:
    await check(partial(open_lance, tmp_path))
