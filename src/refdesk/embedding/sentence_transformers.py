"""Local sentence-transformers folders on the package of that name: for what the exporter does not know.

The package is an extra, since it brings torch. Nothing is downloaded, and no code from the folder is run.
"""

import copy
from collections.abc import Sequence
from pathlib import Path
from threading import Lock
from typing import Any

import anyio
import anyio.to_thread
import numpy as np

from refdesk.embedding import Fingerprint, Vectors
from refdesk.embedding.parallel import in_order
from refdesk.embedding.windows import mean_vector, refuse_long, text_windows
from refdesk.errors import ModelError
from refdesk.models.cache import sha256_of
from refdesk.plugins import load_extra

BATCH = 16


class SentenceTransformersEmbedder:
    """A sentence-transformers model on torch."""

    def __init__(
        self, folder: Path, *, query_prefix: str | None = None, document_prefix: str | None = None
    ) -> None:
        package = load_extra("sentence_transformers", "sentence-transformers")
        self._model = _open(package, folder)
        self._busy = Lock()
        # A call changes a tokenizer's settings, which fails while another thread uses it: count on a copy.
        self._tokenizer, self._counting = copy.deepcopy(self._model.tokenizer), Lock()
        prompts = self._model.prompts or {}
        self._query_prefix = prompts.get("query", "") if query_prefix is None else query_prefix
        passage = prompts.get("document", prompts.get("passage", ""))
        self._document_prefix = passage if document_prefix is None else document_prefix
        self._fingerprint = Fingerprint(
            model=folder.name,
            revision=_revision(folder),
            dimension=self._run([""]).shape[1],
            pooling="sentence-transformers",
            query_prefix=self._query_prefix,
            document_prefix=self._document_prefix,
        )

    @property
    def fingerprint(self) -> Fingerprint:
        return self._fingerprint

    @property
    def max_tokens(self) -> int:
        with self._counting:
            special = len(self._tokenizer("")["input_ids"])
        prefix = max(self.count_tokens(self._query_prefix), self.count_tokens(self._document_prefix))
        return int(self._model.max_seq_length) - special - prefix

    def count_tokens(self, text: str) -> int:
        with self._counting:
            return len(self._tokenizer(text, add_special_tokens=False, truncation=False)["input_ids"])

    async def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Embed texts that fit the model; raise `InputError` where one does not."""
        await anyio.to_thread.run_sync(self._refuse_long, texts)
        return await self._embed([self._document_prefix + text for text in texts])

    async def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Embed queries; one longer than the model's input is the mean of its windows."""
        windows = await anyio.to_thread.run_sync(self._windows, texts)
        vectors = iter(await self._embed([self._query_prefix + part for parts in windows for part in parts]))
        means = [mean_vector([next(vectors) for _ in parts]) for parts in windows]
        return np.stack(means) if means else self._none()

    def _refuse_long(self, texts: Sequence[str]) -> None:
        counts = [self.count_tokens(text) for text in texts]
        refuse_long(texts, counts, self.max_tokens, self._fingerprint.model)

    def _windows(self, texts: Sequence[str]) -> list[list[str]]:
        limit = self.max_tokens
        return [text_windows(text, self.count_tokens, limit) for text in texts]

    async def _embed(self, texts: Sequence[str]) -> Vectors:
        batches = [texts[start : start + BATCH] for start in range(0, len(texts), BATCH)]

        async def one(batch: Sequence[str]) -> Vectors:
            return await anyio.to_thread.run_sync(self._run, batch)

        return np.concatenate([self._none(), *await in_order(one, batches, anyio.CapacityLimiter(1))])

    def _run(self, texts: Sequence[str]) -> Vectors:
        with self._busy:  # torch uses every processor by itself
            vectors = self._model.encode(
                list(texts),
                normalize_embeddings=True,
                convert_to_numpy=True,
                show_progress_bar=False,
                prompt="",
            )
        return np.asarray(vectors, np.float32)

    def _none(self) -> Vectors:
        return np.zeros((0, self._fingerprint.dimension), np.float32)


def _open(package: Any, folder: Path) -> Any:
    try:
        return package.SentenceTransformer(str(folder), local_files_only=True, trust_remote_code=False)
    except Exception as error:  # torch, transformers and the package share no class of errors
        raise ModelError(f"sentence-transformers cannot load {str(folder)!r}: {error}.") from error


def _revision(folder: Path) -> str:
    """Name the weights by their hash."""
    weights = sorted(path for path in folder.rglob("*") if path.suffix in {".safetensors", ".bin"})
    return "-".join(sha256_of(path)[:16] for path in weights)
