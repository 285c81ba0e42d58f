"""Model strings and functions to language models."""

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit

from refdesk.addresses import without_user, without_users
from refdesk.errors import InputError
from refdesk.llm import DEFAULTS, LLM
from refdesk.llm.calling_function import CallingFunctionLLM
from refdesk.llm.function import FunctionLLM, OptionlessLLM, Streaming, can_take
from refdesk.llm.local import LocalLLM
from refdesk.llm.models import ModelLLM

_STRING = re.compile(r"(?P<provider>[a-z][a-z0-9_-]*):(?P<model>.+?)(?:@(?P<url>https?://\S+))?")
_OLLAMA_URL = "http://127.0.0.1:11434/v1"
_REMEDY = (
    "Write PROVIDER:NAME, for example openai:gpt-5-mini, anthropic:claude-haiku-4-5, "
    "google:gemini-2.5-flash, ollama:llama3.2, openai:NAME@http://127.0.0.1:8000/v1 "
    "for a server that speaks OpenAI's protocol, or local:MODEL.gguf for a file."
)


@dataclass(frozen=True, slots=True)
class ModelName:
    """A model string in its parts: `provider:model` or `provider:model@base_url`."""

    provider: str
    model: str
    base_url: str | None = None

    def __str__(self) -> str:
        where = f"@{self.base_url}" if self.base_url else ""
        return without_users(f"{self.provider}:{self.model}{where}")

    def __repr__(self) -> str:
        return f"ModelName({str(self)!r})"


def llm_for(value: str | Callable[..., Any] | LLM | Streaming, *, cache: Path | None = None) -> LLM:
    """Return a language model for a model string, a function, or a model itself.

    A function takes the prompt, or three arguments: messages, tools and options. `cache`
    is where `local:NAME` looks for weights. Nothing is imported or called yet.

    Errors: `InputError` where the value is none of these.
    """
    if isinstance(value, str):
        return _from_string(value, cache)
    if hasattr(value, "stream") and hasattr(value, "name"):
        takes_options = can_take(value.stream, (), DEFAULTS)
        return cast(LLM, value) if takes_options else OptionlessLLM(cast(Streaming, value))
    if callable(value):
        return _from_function(value)
    raise InputError(f"{type(value).__name__} cannot be used as a language model.", remedy=_REMEDY)


def _from_function(function: Callable[..., Any]) -> LLM:
    if can_take(function, ""):
        return FunctionLLM(function)
    if can_take(function, (), (), DEFAULTS):
        return CallingFunctionLLM(function)
    raise InputError(
        f"The function {getattr(function, '__name__', function)!r} cannot be used as a language model: "
        "it takes neither one argument nor three.",
        remedy="Let it take the prompt and return text, or take messages, tools and options and return text "
        "or calls.",
    )


def parse_model_name(value: str) -> ModelName:
    """Read a model string. Errors: `InputError`."""
    found = _STRING.fullmatch(value.strip())
    if not found:
        raise InputError(f"The model string {without_users(value)!r} cannot be read.", remedy=_REMEDY)
    name = ModelName(found["provider"], found["model"], found["url"])
    if near := _misspelt(name.provider):
        raise InputError(
            f"The model string {str(name)!r} names the provider {name.provider!r}, which is not known.",
            remedy=f"Did you mean {near}:{name.model}?",
        )
    if name.provider in _COMPATIBLE and (server := _HOST.search(name.model)):
        raise InputError(
            f"The model string {str(name)!r} names the server {server[1]!r} without http:// or https://.",
            remedy=f"Write {name.provider}:{name.model[: server.start()]}@http://{server[1]}/v1.",
        )
    if name.base_url and name.provider not in _COMPATIBLE:
        raise InputError(
            f"The model string {str(name)!r} names a server, which only {', '.join(_COMPATIBLE)} models can.",
            remedy=_REMEDY,
        )
    return name


def _misspelt(provider: str) -> str:
    """Return the provider that is meant by one that is nearly written so; empty for any other."""
    near = get_close_matches(provider, _COMMON, 1, 0.8)
    return near[0] if near and provider not in _COMMON and provider not in _LIKE_THEM else ""


def _from_string(value: str, cache: Path | None) -> LLM:
    name = parse_model_name(value)
    if name.provider == "local":
        return LocalLLM(model=name.model, cache=cache)
    if name.provider == "ollama":
        url = name.base_url or os.environ.get("OLLAMA_BASE_URL") or _OLLAMA_URL
        key = "OLLAMA_API_KEY"
        return ModelLLM(name=str(name), model=name.model, base_url=url, key_variable=key, priced=False)
    if name.provider in _COMPATIBLE and (url := name.base_url or os.environ.get("OPENAI_BASE_URL", "")):
        own = bool(name.base_url) and not _is_openai(url)
        key = "REFDESK_LLM_API_KEY" if own else "OPENAI_API_KEY"
        return ModelLLM(name=str(name), model=name.model, base_url=url, key_variable=key)
    return ModelLLM(name=str(name), model=f"{name.provider}:{name.model}")


def _is_openai(url: str) -> bool:
    try:
        host = urlsplit(url).hostname or ""
    except ValueError as error:
        raise InputError(
            f"The address {without_user(url)!r} cannot be read: {error}.", remedy=_REMEDY
        ) from error
    return host == "openai.com" or host.endswith(".openai.com")


_COMMON = ("openai", "anthropic", "google", "ollama", "local", "mistral", "groq", "deepseek", "bedrock")
_LIKE_THEM = ("openai-chat", "openai-responses", "google-gla", "google-vertex", "google-cloud")
"""Names of providers that look like another's."""
_HOST = re.compile(r"@((?:localhost|\d+(?:\.\d+){3}|[\w-]+(?:\.[\w-]+)+)(?::\d+)?)(?:/\S*)?\Z")
_COMPATIBLE = ("openai", "openai-chat", "ollama")
