"""Implementations of one's own as options of steps: objects, classes, functions, sync or async.

`rewriter=SpellChecker()`, `rewriter=SpellChecker`, `rewriter=(SpellChecker, {"language": "de"})`,
`rewriter=str.lower` and `rewriter=an_async_function` are all the same to a step. In YAML an implementation is
a name, `spelling` or `{spelling: {language: de}}`, that was given when the file was loaded.
"""

import inspect
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import partial
from typing import Any

import anyio.to_thread
from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler, ValidationInfo
from pydantic_core import CoreSchema, core_schema

from refdesk.errors import InputError
from refdesk.llm.names import parse_model_name

Bound = Callable[..., Awaitable[Any]]


def bind(worker: Any, method: str, step: str) -> Bound:
    """Return an implementation as an async function. Sync ones run in a thread. Errors: `InputError`."""
    target, options = _parted(worker)
    if isinstance(target, type):
        target, options = target(**options), {}
    function = getattr(target, method, None) or target
    if not callable(function):
        raise InputError(
            f"The step {step!r} cannot work with {worker!r:.80}.",
            remedy=f"Give a function, or an object with a method {method!r}.",
        )
    return partial(_call, function, options)


async def _call(function: Callable[..., Any], options: Mapping[str, Any], *given: Any) -> Any:
    called = partial(function, *given, **options)
    calling = function if inspect.isroutine(function) else type(function).__call__
    if inspect.iscoroutinefunction(calling):
        return await called()
    result = await anyio.to_thread.run_sync(called, abandon_on_cancel=True)
    return await result if inspect.isawaitable(result) else result


def _parted(worker: Any) -> tuple[Any, Mapping[str, Any]]:
    if isinstance(worker, tuple) and len(worker) == 2 and isinstance(worker[1], Mapping):
        return worker[0], worker[1]
    return worker, {}


@dataclass(frozen=True, slots=True)
class WorkerOption:
    """Marks an option that takes an implementation, for validation and JSON Schema.

    Names are looked up in the validation context's `workers`; with `names`, such a text is kept as it is.
    """

    method: str
    names: bool = False
    """Whether a text means something to the step itself, such as the name of a reranker."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.with_info_plain_validator_function(self._read)

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        named = {"type": "string"}
        return {
            "anyOf": [named, {"type": "object", "minProperties": 1, "maxProperties": 1}, {"type": "null"}]
        }

    def _read(self, value: Any, info: ValidationInfo) -> Any:
        known: Mapping[str, Any] = (info.context or {}).get("workers", {})
        if isinstance(value, Mapping) and len(value) == 1:
            [(name, options)] = value.items()
            return (self._named(name, known), options or {})
        if isinstance(value, str):
            return value if self.names and value not in known else self._named(value, known)
        target, _ = _parted(value)
        if value is None or callable(target) or callable(getattr(target, self.method, None)):
            return value
        raise ValueError(f"is {value!r:.80}; allowed are functions and objects with a method {self.method!r}")

    def _named(self, name: str, known: Mapping[str, Any]) -> Any:
        if name in known:
            return known[name]
        near = get_close_matches(str(name), known, 1)
        hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(sorted(known)) or 'none'}"
        raise ValueError(f"names the implementation {name!r}, which was not given; {hint}")


@dataclass(frozen=True, slots=True)
class ModelOption:
    """Marks the option `llm`: a model string in YAML, a model or a function in code."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(self._read)

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        return {"anyOf": [{"type": "string"}, {"type": "null"}]}

    def _read(self, value: Any) -> Any:
        if isinstance(value, str):
            try:
                parse_model_name(value)
            except InputError as error:
                raise ValueError(f"cannot be used: {error}") from error
            return value
        if value is None or callable(value) or hasattr(value, "stream"):
            return value
        raise ValueError(f"is {value!r:.80}; allowed are a model string, a model, and a function")
