"""Writers that are killed in the middle, and what may then be in the store."""

import subprocess
import sys

from tests.stores import editions

from refdesk.documents import Scope
from refdesk.stores import Store
from refdesk.testing.stores.samples import COLLECTION, vector


def start(library: str, first: int, prefix: str = "s") -> subprocess.Popen[str]:
    """Start a writer of editions in a process of its own."""
    command = [sys.executable, editions.__file__, library, str(first), prefix]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def kill_after(writer: subprocess.Popen[str], acknowledged: int, pause: float) -> int:
    """Kill a writer a moment after it acknowledged so many editions; return the last one acknowledged."""
    assert writer.stdout is not None
    for _ in range(acknowledged):
        assert writer.stdout.readline(), "the writer ended by itself"
    try:
        writer.wait(pause)
    except subprocess.TimeoutExpired:
        writer.kill()
    rest, _ = writer.communicate()
    assert writer.returncode == -9
    return len(rest.split())


async def stored_texts(store: Store) -> dict[str, list[str]]:
    """Return all chunks by source, after making sure that every way to read them agrees."""
    reader = await store.reader(Scope())
    records = await reader.documents()
    chunks = {each.source_id: [one.text for one in await reader.chunks(each.document_id)] for each in records}
    everything = sorted(text for texts in chunks.values() for text in texts)
    worded = await reader.keyword_search(["words"], top_k=10_000)
    near = await reader.vector_search(vector("x"), top_k=10_000)
    assert sorted(hit.chunk.text for hit in worded) == everything
    assert sorted(hit.chunk.text for hit in near) == everything
    assert await reader.count() == (len(chunks), len(everything))
    assert {name: entry.chunks for name, entry in (await store.entries(COLLECTION)).items()} == {
        name: len(texts) for name, texts in chunks.items()
    }
    return chunks


def possible_states(number: int) -> list[dict[str, list[str]]]:
    """Return the states while edition `number` is the last acknowledged: it, or parts of the next two."""
    states = [editions.texts_after(number, "s")]
    for edition in (number + 1, number + 2):
        written = states[-1] | {
            stored.document.source_id: [chunk.text for chunk in stored.chunks]
            for stored in editions.batch(edition, "s")
        }
        states += [written, editions.texts_after(edition, "s")]
    return states
