"""Language models behind a model string, through pydantic-ai, imported when the first question is asked."""

import os
import random
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from functools import partial
from types import ModuleType
from typing import Any

import anyio
import anyio.to_thread

from refdesk.addresses import without_users
from refdesk.errors import LLMError, MissingExtra
from refdesk.llm import DEFAULTS, Calling, Message, Options
from refdesk.llm.calls import calls_of
from refdesk.llm.exchange import history, parameters, settings_of, text_of, usage_of
from refdesk.llm.failures import failed, garbled, nothing_written, rejected, unusable
from refdesk.plugins import load_extra

_EXTRAS = {"anthropic": "anthropic", "google": "google", "google-cloud": "google"}
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
    key: str = field(default="", compare=False)
    """The key itself, where it is in no variable."""
    priced: bool = True
    """Whether tokens cost what the price list says."""
    timeout: float = 120.0
    """Seconds to wait for the next piece of a reply."""
    attempts: int = 3
    calling: Calling = "native"
    """`written` for a server or model whose own calls do not work: it is sent no tools."""
    settings: tuple[tuple[str, Any], ...] = ()
    """Further model settings of pydantic-ai, such as `("seed", 1)`."""
    sleep: Callable[[float], Awaitable[None]] = anyio.sleep

    def __repr__(self) -> str:
        return f"ModelLLM({self._shown!r})"

    async def stream(
        self, messages: tuple[Message, ...], options: Options = DEFAULTS
    ) -> AsyncGenerator[str, None]:
        """Stream a reply. A server that refuses a schema is asked once more, without it.

        One that refuses tools is not: without them the question would be another (`failures.tools_refused`).
        """
        if self.calling == "written":
            options = replace(options, tools=())
        attempt = 1
        while True:
            started = False
            try:
                async with aclosing(self._attempt(messages, options)) as pieces:
                    async for text in pieces:
                        started = True
                        yield text
                return
            except LLMError as error:
                if started:
                    raise
                if options.json_schema is not None and rejected(error):
                    options = replace(options, json_schema=None)
                elif attempt == self.attempts or not await self._may_retry(error, attempt):
                    raise
                else:
                    attempt += 1

    async def _attempt(self, messages: tuple[Message, ...], options: Options) -> AsyncGenerator[str, None]:
        library = await anyio.to_thread.run_sync(load_extra, "pydantic_ai", self._extra)
        try:
            model = await anyio.to_thread.run_sync(partial(self._build, library))
            async with model, aclosing(self._request(model, library, messages, options)) as pieces:
                async for text in pieces:
                    yield text
        except library.UserError as error:
            raise unusable(error, self._shown) from error
        except library.exceptions.AgentRunError as error:
            raise failed(error, self._shown) from error

    async def _request(
        self, model: Any, library: ModuleType, messages: tuple[Message, ...], options: Options
    ) -> AsyncGenerator[str, None]:
        direct = load_extra("pydantic_ai.direct", self._extra)
        request = direct.model_request_stream(
            model,
            history(messages, library),
            model_settings=settings_of(options, self.timeout, dict(self.settings)),
            model_request_parameters=parameters(options, model, library),
        )
        written = False
        async with request as reply:
            async with aclosing(self._texts(reply)) as texts:
                async for text in texts:
                    written = True
                    yield text
            if usage := usage_of(reply, priced=self.priced):
                options.on_usage(usage)
            response = reply.get()
            names = [tool.name for tool in options.tools]
            if calls := calls_of(response, messages, names) if names else ():
                options.on_calls(calls)
            elif not written:
                raise nothing_written(self._shown, response.finish_reason, bool(response.parts))

    async def _texts(self, reply: Any) -> AsyncGenerator[str, None]:
        try:
            async for event in reply:
                if text := text_of(event):
                    yield text
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            raise garbled(error, self._shown) from error

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
        key = self.key or os.environ.get(self.key_variable) or "no-key-set"
        # Servers other than OpenAI's know the older word for the limit of a reply, and often no other.
        profile = _ENDS if self.key_variable == "OPENAI_API_KEY" else {**_ENDS, _NEWER_LIMIT: False}
        return chat(self.model, provider=provider(base_url=self.base_url, api_key=key), profile=profile)

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


_ENDS = {"openai_chat_streaming_requires_finish_reason": True}
"""A reply without a length that breaks off would pass for a whole one."""
_NEWER_LIMIT = "openai_chat_supports_max_completion_tokens"
