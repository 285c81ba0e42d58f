"""The server that the tests start."""

import subprocess
import sys

import psycopg


def test_it_has_vectors(postgres: str) -> None:
    with psycopg.connect(postgres) as connection:
        connection.execute("CREATE EXTENSION vector")
        row = connection.execute("SELECT '[1, 2]'::vector <=> '[1, 2]'::vector").fetchone()
        assert row == (0.0,)


def test_what_the_driver_logs_is_on_no_stderr() -> None:
    loads = "import logging, refdesk.stores.postgres.connecting"
    code = f"{loads}; logging.getLogger('psycopg.pool').warning('lost')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr == ""
