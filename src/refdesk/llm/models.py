"""Language models behind a model string, through pydantic-ai, imported when the first question is asked."""

import os
import random
import re
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass
from functools import partial
from types import ModuleType
from typing import Any

import anyio
import anyio.to_thread

from refdesk.addresses import without_users
from refdesk.errors import LLMError, MissingExtra
from refdesk.llm import DEFAULTS, Message, Options
from refdesk.plugins import load_extra

_EXTRAS = {"anthropic": "anthropic", "google": "google", "google-cloud": "google"}
_SECRET_NAME = re.compile(r"(?i)(?:KEY|TOKEN|SECRET|PASSWORD|CREDENTIALS)$")
_SECRET = re.compile(r"(?i)\b(?:sk|pk|rk|gsk|xai|key)-[\w*.-]{6,}|\bAIza[\w-]{10,}|\bbearer\s+[^\s,;]+")
_LONGEST_WAIT = 60.0
"""Seconds; a server that asks for a longer pause is not waited for."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ModelLLM:
    """One model of one provider. A failed request is tried again only while no text has come."""

    name: str
    model: str
    """`provider:model` for a provider that pydantic-ai knows, the bare model name with `base_url`."""
    base_url: str | None = None
    """A server that speaks OpenAI's chat protocol."""
    key_variable: str = ""
    """The environment variable that holds the key for `base_url`; servers without keys ignore it."""
    timeout: float = 120.0
    """Seconds to wait for the next piece of a reply."""
    attempts: int = 3
    settings: tuple[tuple[str, Any], ...] = ()
    """Further model settings of pydantic-ai, such as `("temperature", 0.0)`."""
    sleep: Callable[[float], Awaitable[None]] = anyio.sleep

    def __repr__(self) -> str:
        return f"ModelLLM({self._shown!r})"

    async def stream(
        self, messages: tuple[Message, ...], options: Options = DEFAULTS
    ) -> AsyncGenerator[str, None]:
        for attempt in range(1, self.attempts + 1):
            started = False
            try:
                async with aclosing(self._attempt(messages)) as pieces:
                    async for text in pieces:
                        started = True
                        yield text
                if started:
                    return
                raise LLMError(f"The model {self._shown} returned no text.", retryable=True)
            except LLMError as error:
                if started or attempt == self.attempts or not await self._may_retry(error, attempt):
                    raise

    async def _attempt(self, messages: tuple[Message, ...]) -> AsyncGenerator[str, None]:
        library = await anyio.to_thread.run_sync(load_extra, "pydantic_ai", self._extra)
        try:
            model = await anyio.to_thread.run_sync(partial(self._build, library))
            async with model, aclosing(self._request(model, library, messages)) as pieces:
                async for text in pieces:
                    yield text
        except library.UserError as error:
            raise self._unusable(error) from error
        except library.exceptions.AgentRunError as error:
            raise self._failed(error) from error

    async def _request(
        self, model: Any, library: ModuleType, messages: tuple[Message, ...]
    ) -> AsyncGenerator[str, None]:
        direct = load_extra("pydantic_ai.direct", self._extra)
        settings = {"timeout": self.timeout, "max_retries": 0, **dict(self.settings)}
        history = [_request_of(message, library) for message in messages]
        async with direct.model_request_stream(model, history, model_settings=settings) as reply:
            async for event in reply:
                if text := _text_of(event):
                    yield text

    def _build(self, library: ModuleType) -> Any:
        if self.base_url is None:
            try:
                return library.models.infer_model(self.model)
            except ImportError as error:
                raise MissingExtra(
                    f"The model {self._shown} needs a package that is not installed: {error}.",
                    remedy=f"Run: pip install 'refdesk[{self._extra}]'.",
                ) from error
        provider = load_extra("pydantic_ai.providers.openai", "llm").OpenAIProvider
        chat = load_extra("pydantic_ai.models.openai", "llm").OpenAIChatModel
        key = os.environ.get(self.key_variable) or "no-key-set"
        return chat(self.model, provider=provider(base_url=self.base_url, api_key=key))

    @property
    def _shown(self) -> str:
        return without_users(self.name)

    @property
    def _extra(self) -> str:
        return _EXTRAS.get(self.model.partition(":")[0], "llm")

    async def _may_retry(self, error: LLMError, attempt: int) -> bool:
        asked = getattr(error.__cause__, "retry_after", None)
        if not error.retryable or (asked or 0) > _LONGEST_WAIT:
            return False
        await self.sleep(asked if asked is not None else 0.5 * 2 ** (attempt - 1) * random.uniform(1, 1.5))
        return True

    def _unusable(self, error: Exception) -> LLMError:
        text = scrub(str(error)).partition(" To try it without")[0]
        variable = re.search(r"`([A-Z][A-Z0-9_]*(?:KEY|TOKEN)[A-Z0-9_]*)`", str(error))
        remedy = f"Set the environment variable {variable[1]}." if variable else "Check the model string."
        return LLMError(f"The model {self._shown} cannot be used: {text}", remedy=remedy)

    def _failed(self, error: Any) -> LLMError:
        kinds = {cls.__name__ for cls in type(error).__mro__}
        status = getattr(error, "status_code", None)
        retryable = bool(kinds & _PASSING) or status in (408, 409, 425, 429) or (status or 0) >= 500
        return LLMError(
            f"The model {self._shown} failed: {_cause(error, status)}",
            retryable=retryable and "ModelQuotaExceededError" not in kinds,
            remedy=next((remedy for kind, remedy in _REMEDIES.items() if kind in kinds), ""),
        )


def scrub(text: str) -> str:
    """Take secrets out of a text: values of variables that name one, those of addresses, and keys."""
    for name, value in os.environ.items():
        if _SECRET_NAME.search(name) and len(value) >= 6:
            text = text.replace(value, "***")
    return _SECRET.sub("***", without_users(text))


def _cause(error: Any, status: int | None) -> str:
    """Say in one line what went wrong, with the server's own words."""
    body = getattr(error, "body", None)
    said = body.get("message") or body.get("error") if isinstance(body, dict) else body
    said = said.get("message", said) if isinstance(said, dict) else said
    text = str(said or error) + (f" ({error.__cause__})" if not said and error.__cause__ else "")
    return scrub(" ".join(f"{f'HTTP {status}: ' if status else ''}{text}".split()))[:_LONGEST_CAUSE]


def _request_of(message: Message, library: ModuleType) -> Any:
    parts = library.messages
    if message.role == "assistant":
        return parts.ModelResponse(parts=[parts.TextPart(content=message.text)])
    kind = parts.SystemPromptPart if message.role == "system" else parts.UserPromptPart
    return parts.ModelRequest(parts=[kind(content=message.text)])


def _text_of(event: Any) -> str:
    """Return the new text of a stream event, empty for thoughts, tool calls and ends."""
    part = getattr(event, "part", None) if event.event_kind == "part_start" else None
    if part is not None:
        return str(part.content) if part.part_kind == "text" else ""
    delta = getattr(event, "delta", None) if event.event_kind == "part_delta" else None
    return str(delta.content_delta or "") if delta is not None and delta.part_delta_kind == "text" else ""


_PASSING = {
    "ModelRateLimitError",
    "ModelUnavailableError",
    "ModelServerError",
    "ModelConnectionError",
    "ModelRequestTimeout",
}
_REMEDIES = {
    "ModelAuthenticationError": "Check the key in the environment and that it may use this model.",
    "ModelNotFoundError": "Check the model's name.",
    "ModelQuotaExceededError": "The account's quota or credit is used up.",
    "ModelContextWindowExceededError": "Give it less evidence, or use a model with a larger window.",
    "ModelConnectionError": "Check that the server runs and can be reached.",
}
_LONGEST_CAUSE = 400
