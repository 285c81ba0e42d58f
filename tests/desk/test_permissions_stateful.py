"""Whatever is ingested, permitted, deleted and asked: nothing that is returned or shown is another's."""

import itertools
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test
from tests.desk.permission_machine import PermissionMachine
from tests.stores.postgres.urls import with_query

EXAMPLES = int(os.environ.get("REFDESK_STATEFUL_EXAMPLES", "3"))
"""Runs of a machine; thousands find what few do not."""
STEPS = settings(
    max_examples=EXAMPLES,
    stateful_step_count=20,
    deadline=None,
    suppress_health_check=[*HealthCheck],
    print_blob=True,
)


@pytest.mark.parametrize("kind", ["embedded", "postgres"])
def test_nothing_is_shown_that_is_anothers(kind: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    numbers = itertools.count()
    url = request.getfixturevalue("postgres") if kind == "postgres" else ""

    def machine() -> PermissionMachine:
        number = next(numbers)
        return PermissionMachine(
            with_query(url, f"schema=library_{number}") if url else str(tmp_path / f"library {number}")
        )

    made: Any = machine
    run_state_machine_as_test(made, settings=STEPS)
