"""The `lancedb` package opens what the store wrote."""

from pathlib import Path

import lancedb
import pytest

from refdesk.documents import Scope
from refdesk.stores.lance import CHUNKS, open_lance
from refdesk.testing.stores.samples import put, sample

pytestmark = pytest.mark.anyio


async def test_tables_are_those_of_lancedb(tmp_path: Path) -> None:
    store = await open_lance(tmp_path)
    await put(store, sample("a", "One text."), sample("b", "Another text."))
    _, chunks = await (await store.reader(Scope())).count()
    database = lancedb.connect(tmp_path / CHUNKS)
    [name] = database.list_tables().tables
    assert database.open_table(name).count_rows() == chunks == 2
