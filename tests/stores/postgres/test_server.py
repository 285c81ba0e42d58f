"""The server that the tests start."""

import psycopg


def test_it_has_vectors(postgres: str) -> None:
    with psycopg.connect(postgres) as connection:
        connection.execute("CREATE EXTENSION vector")
        row = connection.execute("SELECT '[1, 2]'::vector <=> '[1, 2]'::vector").fetchone()
        assert row == (0.0,)
