"""Documents to chunks whose offsets are exact: `document.text[chunk.start:chunk.end] == chunk.text`.

`Chunker` splits at the largest unit that fits (sections, paragraphs, sentences, words, characters). It counts
in the tokens of the embedder that will read the chunks, so no chunk is ever cut on its way to the model.
"""

from refdesk.chunking.splitter import CHUNKER_VERSION, Chunker, embedded_text
from refdesk.chunking.strategies import lead

__all__ = ["CHUNKER_VERSION", "Chunker", "embedded_text", "lead"]
