"""Sources to stored, searchable chunks: read, parse, chunk, embed, write, and count what is there.

- `prepare`: one item to a document with chunks and keyword tokens
- `run`: many items, in batches that are each written whole
- `reembed`: the stored documents of a collection in another embedding space
- `summary`: what became of every source, and what the store holds afterwards
"""

from refdesk.ingest.prepare import Recipe
from refdesk.ingest.reembed import Reembedding
from refdesk.ingest.run import Ingestion
from refdesk.ingest.summary import Summary, Tried

__all__ = ["Ingestion", "Recipe", "Reembedding", "Summary", "Tried"]
