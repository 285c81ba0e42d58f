"""What a question costs does not grow with the rows of a library, told by the work that SQLite does."""

from pathlib import Path

import pyarrow as pa
import pytest

from refdesk.documents import PUBLIC, Document, Scope
from refdesk.filters import Equals
from refdesk.stores import acls, control, records, search, shelves
from refdesk.stores.indexes import Limits
from refdesk.stores.reader import LanceReader, open_state
from refdesk.stores.tables import Tables

pytestmark = pytest.mark.anyio

DOCUMENTS = 3_000
STEPS = 100


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a library with many documents, and none of their chunks."""
    folder = tmp_path_factory.mktemp("library")
    control.create(folder)
    with control.writing(folder) as connection:
        shelves.create(connection, "default", "")
        shelf = shelves.shelf(connection, "default")
        for key in range(1, DOCUMENTS + 1):
            document = Document(
                collection="default",
                source_id=f"{key:05}",
                title="",
                text="",
                metadata={"odd": key % 2},
                acl=(PUBLIC,),
            )
            records.put(connection, shelf, key, document, chunks=1, tokens=1)
    return folder


@pytest.mark.parametrize("work", ["counts", "languages", "collection", "collections"])
async def test_counting_does_not_read_the_rows(library: Path, work: str) -> None:
    with control.reading(library) as connection:
        seen = acls.readable(connection, Scope())
        statements: list[str] = []
        connection.set_trace_callback(statements.append)
        match work:
            case "counts":
                assert [one.documents for one in records.tallies(connection, 1, seen)] == [DOCUMENTS]
            case "languages":
                assert shelves.languages(connection, 1) == ()
            case "collection":
                assert shelves.collection(connection, "default").documents == DOCUMENTS
            case "collections":
                assert [each.documents for each in shelves.collections(connection)] == [DOCUMENTS]
        connection.set_trace_callback(None)
        counting = [each for each in statements if "documents" in each]
        assert counting
        for statement in counting:
            plan = [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {statement}")]
            assert any("COVERING INDEX documents_counted" in step for step in plan), plan


async def test_a_page_costs_what_it_holds(library: Path) -> None:
    state = open_state(library, Tables(library / "chunks", Limits()), Scope())
    reader, ticks = LanceReader(library, state), 0

    def tick() -> int:
        nonlocal ticks
        ticks += 1
        return 0

    state.connection.set_progress_handler(tick, STEPS)
    assert [each.source_id for each in await reader.documents(limit=2)] == ["00001", "00002"]
    assert ticks * STEPS < DOCUMENTS
    page = await reader.documents(filter=Equals("odd", 1), offset=1, limit=2)
    assert [each.source_id for each in page] == ["00003", "00005"]


def test_equal_scores_are_not_read_without_end() -> None:
    asked: list[int] = []

    def ask(limit: int) -> tuple[pa.Table, list[float]]:
        asked.append(limit)
        return pa.table({"row": range(limit)}), [1.0] * limit

    found, scores = search.widened(ask, 10, 30)
    assert len(found) == len(scores) == max(asked) == 10 + search.TIES
    asked.clear()
    search.widened(ask, 10, 2 * search.TIES)
    assert asked == [2 * search.TIES]
