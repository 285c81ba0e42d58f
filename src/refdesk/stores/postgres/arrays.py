"""Arrays of integers as numpy takes them: of a whole array of Postgres at once."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from psycopg.abc import Buffer
from psycopg.adapt import Loader
from psycopg.postgres import types
from psycopg.pq import Format
from psycopg.sql import Composed

from refdesk.stores.postgres.connecting import Connection

HEADER = 20
"""Bytes of an array of one dimension before its elements."""


class _Integers(Loader):
    """Reads int4[]: elements of a length and a number, both of four bytes with the highest first."""

    format = Format.BINARY

    def load(self, data: Buffer) -> NDArray[np.int64]:
        if len(data) < HEADER:
            return np.zeros(0, np.int64)
        return np.frombuffer(data, ">i4", offset=HEADER)[1::2].astype(np.int64)


async def binary(connection: Connection, statement: Composed, parameters: tuple[Any, ...]) -> list[Any]:
    """Run a statement and return its rows, with integer[] as numpy arrays."""
    async with connection.cursor(binary=True) as cursor:
        cursor.adapters.register_loader(types["int4"].array_oid, _Integers)
        await cursor.execute(statement, parameters)
        return await cursor.fetchall()
