"""Whatever is written, changed, deleted and remade: nobody reads what is not for them."""

import itertools
import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test
from tests.stores.acl_machine import AclMachine
from tests.stores.postgres.urls import with_query

from refdesk.stores import Store
from refdesk.stores.opening import open_store

EXAMPLES = int(os.environ.get("REFDESK_STATEFUL_EXAMPLES", "4"))
"""Runs of a machine; thousands find what few do not."""
STEPS = settings(
    max_examples=EXAMPLES,
    stateful_step_count=25,
    deadline=None,
    suppress_health_check=[*HealthCheck],
    print_blob=True,
)


@pytest.fixture(params=["embedded", "postgres"])
def libraries(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """Give places of libraries that are not there yet."""
    if request.param == "embedded":
        return (str(tmp_path / f"library {number}") for number in itertools.count())
    url = request.getfixturevalue("postgres")
    return (with_query(url, f"schema=library_{number}") for number in itertools.count())


def test_nobody_reads_what_is_not_for_them(libraries: Iterator[str]) -> None:
    async def opening() -> Store:
        return await open_store(next(libraries))

    machine: Any = partial(AclMachine, opening)
    run_state_machine_as_test(machine, settings=STEPS)
