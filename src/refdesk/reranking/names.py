"""Names of rerankers to rerankers."""

import os
from collections.abc import Mapping
from pathlib import Path

from refdesk.addresses import without_users
from refdesk.embedding import Embedder, TokenEmbedder
from refdesk.errors import SettingsError
from refdesk.plugins import load_late
from refdesk.reranking import Reranker
from refdesk.reranking.maxsim import MaxSimReranker
from refdesk.stores import Reader

KNOWN = "'maxsim', 'none', a folder, 'tei:URL', 'cohere:MODEL'"


def reranker_for(
    name: str,
    *,
    embedder: Embedder | None = None,
    reader: Reader | None = None,
    cache: Path | None = None,
    environ: Mapping[str, str] | None = None,
) -> Reranker | None:
    """Return the reranker that a name means, None for `none`. Blocks while weights are loaded.

    `maxsim` uses the embedder, and the token vectors that the reader has; a folder holds a cross-encoder;
    `tei:URL` and `cohere:MODEL` (key and address from `COHERE_API_KEY` and `COHERE_BASE_URL`) are servers.
    Errors: `SettingsError`, `ModelError`, `MissingExtra`.
    """
    if name == "none":
        return None
    if name == "maxsim":
        return _maxsim(embedder, reader)
    kind, _, rest = name.partition(":")
    if rest and kind in ("tei", "cohere"):
        return _remote(kind, rest, os.environ if environ is None else environ)
    folder = Path(name).expanduser()
    if not name or not folder.is_dir():
        raise SettingsError(
            f"Unknown reranker {without_users(name)!r}; allowed are {KNOWN}.",
            remedy="Correct the setting `reranker`, or the option that names it.",
        )
    late = load_late("refdesk.reranking.cross_encoder")  # brings onnxruntime, which servers do not need
    reranker: Reranker = late.open_cross_encoder(folder, cache=cache)
    return reranker


def _maxsim(embedder: Embedder | None, reader: Reader | None) -> Reranker:
    if embedder is None or not isinstance(embedder, TokenEmbedder):
        given = "there is no embedder" if embedder is None else f"{embedder.fingerprint.model!r} gives none"
        raise SettingsError(
            f"The reranker 'maxsim' needs token vectors, and {given}.",
            remedy="Set the reranker to 'none' or to a server or folder, or use a local embedder.",
        )
    return MaxSimReranker(embedder, reader)


def _remote(kind: str, rest: str, environ: Mapping[str, str]) -> Reranker:
    late = load_late("refdesk.reranking.http")  # brings httpx
    if kind == "tei":
        server = late.Server(url=rest, api_key=environ.get("TEI_API_KEY", ""))
        reranker: Reranker = late.HttpReranker(server, late.Tei(), f"tei:{rest}")
        return reranker
    url = environ.get("COHERE_BASE_URL") or late.COHERE_URL
    server = late.Server(url=url, api_key=environ.get("COHERE_API_KEY", ""))
    reranker = late.HttpReranker(server, late.Cohere(model=rest), f"cohere:{rest}")
    return reranker
