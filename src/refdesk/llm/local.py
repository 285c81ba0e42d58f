"""Language models that run in this process: GGUF files in llama.cpp, through xllamacpp.

A model's server starts when it is first asked, listens on a loopback port behind a key that no one else has,
and is shared by all that name the same file. It ends with the process, or with `stop_servers`.
"""

import atexit
import os
import secrets
import threading
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import anyio.to_thread

from refdesk.errors import InputError, ModelError
from refdesk.llm import DEFAULTS, Calling, Message, Options
from refdesk.llm.models import ModelLLM
from refdesk.models.catalog import CATALOG, known
from refdesk.models.locate import locate
from refdesk.plugins import load_extra

THREADS = "REFDESK_LOCAL_THREADS"
WINDOW = "REFDESK_LOCAL_WINDOW"
PATIENCE = 900.0
"""Seconds to wait for the next piece: requests wait in line, and one thread reads a long prompt slowly."""
_PROMPT_CACHE_MEGABYTES = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalLLM:
    """A GGUF file, or a language model of the catalogue, on this machine's processor.

    Errors: `MissingExtra`, `ModelError` for weights that are missing or cannot be loaded, `LLMError`.
    """

    calling: ClassVar[Calling] = "written"
    """Small models, and the templates in their files, keep to no form of calls; to a schema they do."""
    model: str
    """Path of a GGUF file, or a name of the catalogue."""
    threads: int = 0
    """Processor threads; 0 for what REFDESK_LOCAL_THREADS says, else 1, the fastest on a busy machine."""
    window: int = 0
    """Tokens of prompt and reply together; 0 for what REFDESK_LOCAL_WINDOW says, else 8192."""
    reply: int = 1024
    """Tokens of a reply where the options name none: small models may not find an end."""
    cache: Path | None = None
    """Folder of model weights, where it is not the usual one."""

    @property
    def name(self) -> str:
        return f"local:{self.model}"

    async def stream(
        self, messages: tuple[Message, ...], options: Options = DEFAULTS
    ) -> AsyncGenerator[str, None]:
        server = await anyio.to_thread.run_sync(self._server, abandon_on_cancel=True)
        llm = ModelLLM(
            name=self.name,
            model=self.model,
            base_url=server.url,
            key=server.key,
            priced=False,
            timeout=PATIENCE,
            calling=self.calling,
        )
        bounded = replace(options, max_tokens=options.max_tokens or self.reply)
        async with aclosing(llm.stream(messages, bounded)) as pieces:
            async for piece in pieces:
                yield piece

    def _server(self) -> "Server":
        library = load_extra("xllamacpp", "local")
        threads = self.threads or _number(THREADS, 1)
        return _started(library, gguf(self.model, self.cache), threads, self.window or _number(WINDOW, 8192))


@dataclass(frozen=True, slots=True)
class Server:
    """A running server; it ends when `handle` is let go."""

    url: str
    key: str
    handle: Any


def gguf(model: str, cache: Path | None = None) -> Path:
    """Return the file of a model. Errors: `ModelError`."""
    if (entry := known(model)) is not None and entry.engine == "llama":
        return locate(entry.name, cache=cache) / entry.files[0].name
    path = Path(model).expanduser()
    if not path.is_file():
        names = ", ".join(one.name for one in CATALOG if one.engine == "llama")
        raise ModelError(
            f"There is no model {model!r}: it is neither a file nor one of {names}.",
            remedy="Write local:PATH of a GGUF file, or local:NAME.",
        )
    with path.open("rb") as file:
        if file.read(4) != b"GGUF":
            raise ModelError(f"The file {str(path)!r} is no GGUF model.", remedy="Convert it with llama.cpp.")
    return path.resolve()


def stop_servers() -> None:
    """End all servers and free their memory; a model that is asked again starts anew."""
    with _LOCK:
        _RUNNING.clear()


_LOCK = threading.Lock()
_RUNNING: dict[tuple[Path, int, int], Server] = {}
atexit.register(stop_servers)


def _started(library: Any, path: Path, threads: int, window: int) -> Server:
    with _LOCK:
        wanted = (path, threads, window)
        if wanted not in _RUNNING:
            _RUNNING[wanted] = _start(library, path, threads, window)
        return _RUNNING[wanted]


def _start(library: Any, path: Path, threads: int, window: int) -> Server:
    key = secrets.token_urlsafe(24)
    wanted = library.CommonParams()
    wanted.model.path = str(path)
    wanted.cpuparams.n_threads = wanted.cpuparams_batch.n_threads = threads
    wanted.n_ctx, wanted.n_parallel, wanted.cache_ram_mib = window, 1, _PROMPT_CACHE_MEGABYTES
    wanted.hostnames, wanted.port, wanted.api_keys = ["127.0.0.1"], 0, [key]
    wanted.ui = wanted.endpoint_slots = False
    wanted.verbosity = -1
    try:
        handle = library.Server(wanted)
    except Exception as error:
        raise ModelError(
            f"llama.cpp cannot load {str(path)!r}: {str(error).rstrip('.')}.",
            remedy="Check that the file is whole and that there is memory for it.",
        ) from error
    return Server(f"{handle.listening_address}/v1", key, handle)


def _number(variable: str, usual: int) -> int:
    given = os.environ.get(variable, "")
    if given and not (given.isascii() and given.isdigit() and int(given) > 0):
        raise InputError(f"{variable} is {given!r}; it must be a whole number above 0.")
    return int(given or usual)
