"""Whether the model behind an address is the one that a collection was embedded with."""

from refdesk.chunking import embedded_text, lead
from refdesk.documents import DocumentRecord
from refdesk.embedding import SAME, Embedder
from refdesk.errors import EmbeddingMismatch
from refdesk.ingest.prepare import Recipe
from refdesk.stores import Reader
from refdesk.stores.refusals import reembed

LOOKED_AT = 10
"""Documents among which one is looked for that can be embedded again."""


async def check_model(reader: Reader, embedder: Embedder, recipe: Recipe, collection: str) -> None:
    """Embed a stored text again and compare it with its stored vector. Errors: `EmbeddingMismatch`.

    The name of a space does not tell which weights a server has. Where no document was made by this recipe
    nothing is known, and nothing refused.
    """
    for record in await reader.documents(limit=LOOKED_AT):
        if record.chunks and recipe.made(record.digest):
            if (cosine := await _cosine(reader, embedder, recipe, record)) < SAME:
                raise _changed(collection, embedder, cosine)
            return


async def _cosine(reader: Reader, embedder: Embedder, recipe: Recipe, record: DocumentRecord) -> float:
    chunk = (await reader.chunks(record.document_id))[0]
    stored = (await reader.vectors([chunk.chunk_id]))[chunk.chunk_id]
    leading, how = lead(record.title, record.metadata), recipe.chunker
    text = embedded_text(leading, chunk, how.count_tokens, how.limit)
    return float(stored @ (await embedder.embed_documents([text]))[0])


def _changed(collection: str, embedder: Embedder, cosine: float) -> EmbeddingMismatch:
    model = embedder.fingerprint.model
    return EmbeddingMismatch(
        f"The server's model {model!r} is not the one that the collection {collection!r} was embedded with:"
        f" the vector of a stored text has the cosine {cosine:.3f} to the stored one.",
        remedy="Serve the model of then; or serve the new one by another name, set `embedder` to that."
        f" {reembed(collection)}",
    )
