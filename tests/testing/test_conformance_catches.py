"""Every check of the suite for stores can fail: each is run on a store that breaks what it checks."""

from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.testing.broken import (
    accounting,
    embedded,
    filtering,
    permissions,
    reading,
    remaking,
    shared,
    writing,
)
from tests.testing.broken.wrapping import BROKEN, Break, BrokenStore

from refdesk.errors import RefdeskError
from refdesk.stores.lance import open_lance
from refdesk.testing.stores import CHECKS, SHARED_CHECKS, Check, SharedCheck

pytestmark = pytest.mark.anyio

MODULES = (accounting, embedded, filtering, permissions, reading, remaking, writing)
"""They note their stores in `BROKEN` when they are imported."""


def is_caught(error: BaseException) -> bool:
    """Tell whether a check has failed as checks do; anything else is a defect of the broken store itself."""
    if isinstance(error, BaseExceptionGroup):
        return all(map(is_caught, error.exceptions))
    return isinstance(error, AssertionError | RefdeskError)


def opener(folder: Path, kind: Break) -> Any:
    opened = 0

    async def open_store() -> Any:
        nonlocal opened
        opened += 1
        return kind(await open_lance(folder / f"library {opened}"))

    return open_store


@pytest.mark.parametrize(
    ("kind", "check"),
    [pytest.param(kind, check, id=f"{name}-{check.__name__}") for name, kind, check in BROKEN],
)
async def test_a_broken_store_is_caught(kind: Break, check: Check, tmp_path: Path) -> None:
    with pytest.raises(BaseException) as raised:  # noqa: PT011 - of which kind is checked below
        await check(opener(tmp_path, kind))
    assert is_caught(raised.value), raised.value


@pytest.mark.parametrize(
    ("reopen", "check"), shared.BROKEN, ids=[f"{one.__name__}-{two.__name__}" for one, two in shared.BROKEN]
)
async def test_a_store_that_is_broken_in_several_processes_is_caught(
    reopen: Any, check: SharedCheck, tmp_path: Path
) -> None:
    with pytest.raises(BaseException) as raised:  # noqa: PT011 - of which kind is checked below
        await check(partial(reopen, tmp_path))
    assert is_caught(raised.value), raised.value


async def test_the_wrapper_itself_breaks_nothing(tmp_path: Path) -> None:
    for check in CHECKS[:8]:
        await check(opener(tmp_path / check.__name__, BrokenStore))


def test_every_check_has_a_store_that_it_catches() -> None:
    caught = {check for _, _, check in BROKEN} | {check for _, check in shared.BROKEN}
    assert {check.__name__ for check in {*CHECKS, *SHARED_CHECKS} - caught} == set()
