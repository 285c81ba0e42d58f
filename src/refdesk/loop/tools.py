"""What a model may do: tools of typed functions, the arguments it wrote for them, and results as text."""

import inspect
import json
import re
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, overload

import anyio.to_thread
from pydantic_core import PydanticSerializationError, to_json

from refdesk.context import Context
from refdesk.errors import InputError, ReplyUnreadable, ToolError
from refdesk.llm import ToolForm
from refdesk.llm.replies import LONGEST, read
from refdesk.loop.checking import shown
from refdesk.loop.signatures import Check, described, named, read_signature

NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")
LONGEST_RESULT = 20_000
"""Characters of a custom tool's result that a model is shown."""
DONE = "Done."
EMPTY = "(empty)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """Something a model may do, by name. Errors: `InputError` for a name that models cannot call."""

    name: str
    """Small letters, digits and `_`; at most 64 characters, the first a letter."""
    description: str
    parameters: Mapping[str, Any] = field(hash=False)
    """A JSON Schema of an object."""
    run: Callable[..., Awaitable[Any]]
    """Takes checked arguments by keyword."""
    check: Check
    """Returns arguments as `run` takes them. Errors: `ToolError` in words that a model can act on."""
    acts: bool = False
    """Whether it changes something outside; the loop refuses it once text of documents was shown."""
    context: str = ""
    """The parameter of `run` that the loop fills with the `Context`: what was asked, by whom."""

    def __post_init__(self) -> None:
        _check_name(self.name)

    def within(self, context: Context) -> "Tool":
        """Return the tool for one run."""
        return replace(self, run=partial(self.run, **{self.context: context})) if self.context else self

    @property
    def form(self) -> ToolForm:
        """What a model is told of it."""
        return ToolForm(name=self.name, description=self.description, parameters=self.parameters)


@overload
def tool(
    function: Callable[..., Any], /, *, name: str = "", description: str = "", acts: bool = False
) -> Tool: ...


@overload
def tool(
    function: None = None, /, *, name: str = "", description: str = "", acts: bool = False
) -> Callable[[Callable[..., Any]], Tool]: ...


def tool(
    function: Callable[..., Any] | None = None,
    /,
    *,
    name: str = "",
    description: str = "",
    acts: bool = False,
) -> Tool | Callable[[Callable[..., Any]], Tool]:
    """Make a tool of a function with types; a sync one runs in a thread.

    The name is the function's, the description the first paragraph of its docstring, unless they are given.
    Errors: `InputError` for a function that no model could call.
    """
    if function is None:
        return partial(_made, name=name, description=description, acts=acts)
    return _made(function, name=name, description=description, acts=acts)


def tool_of(value: Tool | Callable[..., Any]) -> Tool:
    """Return a tool, or make one of a function. Errors: `InputError`."""
    return value if isinstance(value, Tool) else _made(value)


def tools_of(values: Iterable[Tool | Callable[..., Any]], *, taken: Collection[str] = ()) -> tuple[Tool, ...]:
    """Return several tools. Errors: `InputError`, also for two of one name, or one that is `taken`."""
    tools: dict[str, Tool] = {}
    for made in map(tool_of, values):
        if made.name in tools or made.name in taken:
            raise InputError(f"There are two tools {made.name!r}.", remedy="Give one of them another `name`.")
        tools[made.name] = made
    return tuple(tools.values())


def _made(function: Callable[..., Any], *, name: str = "", description: str = "", acts: bool = False) -> Tool:
    if reason := _unfit(function):
        raise InputError(
            f"A tool cannot be made of {function!r:.80}: {reason}.",
            remedy="Give a function whose parameters have types, or a Tool.",
        )
    name = name or named(function)
    _check_name(name)
    signature = read_signature(function, name)
    return Tool(
        name=name,
        description=description or described(function),
        parameters=signature.schema,
        run=partial(_run, function),
        check=signature.check,
        context=signature.context,
        acts=acts,
    )


def _check_name(name: str) -> None:
    if not NAME.fullmatch(name):
        raise InputError(
            f"A tool cannot be called {name!r:.80}.",
            remedy="Give it a `name` of at most 64 small letters, digits and '_', the first a letter.",
        )


def _unfit(function: Any) -> str:
    if not callable(function):
        return "it cannot be called"
    if isinstance(function, type):
        return "it is a class"
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        return "it yields, and a result is one value"
    return ""


async def _run(function: Callable[..., Any], /, **arguments: Any) -> Any:
    called = partial(function, **arguments)
    if _is_async(function):
        return await called()
    result = await anyio.to_thread.run_sync(called, abandon_on_cancel=True)
    return await result if inspect.isawaitable(result) else result


def _is_async(function: Any) -> bool:
    while isinstance(function, partial):
        function = function.func
    calling = function if inspect.isroutine(function) else type(function).__call__
    return inspect.iscoroutinefunction(calling)


def arguments_of(tool: Tool, written: str) -> Mapping[str, Any]:
    """Read the arguments that a model wrote as JSON, however it wrote it. Errors: `ToolError`."""
    if len(written) > LONGEST:
        raise ToolError(
            f"{tool.name}: the arguments have {len(written)} characters; at most {LONGEST} are allowed."
        )
    value = _value(tool, written.strip())
    known = tool.parameters.get("properties", {}).keys()
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], Mapping) and known & value[0]:
        [value] = value
    if not isinstance(value, Mapping):
        value = {_only(tool, value): value}
    return tool.check(value)


def _value(tool: Tool, written: str) -> Any:
    if not written:
        return {}
    try:
        value = _exact(written)
        for _ in range(2):
            if isinstance(value, str) and value.strip()[:1] in ("{", '"'):
                value = _exact(value)
    except (ValueError, RecursionError):
        value = _forgiving(tool, written)
    return {} if value is None else value


def _exact(written: str) -> Any:
    """Read JSON that is right. Errors: `ValueError`, also for what could not be written as JSON again."""
    value = json.loads(written)
    json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    return value


def _forgiving(tool: Tool, written: str) -> Any:
    try:
        reading = read(written)
    except ReplyUnreadable as error:
        if not set(written) & set("{}[]"):
            return written
        raise ToolError(
            f"{tool.name}: the arguments {shown(written)} are no whole JSON; {_wanted(tool)}"
        ) from error
    if not reading.complete:
        raise ToolError(f"{tool.name}: the arguments break off: {shown(written)}; {_wanted(tool)}")
    return reading.value


def _only(tool: Tool, value: Any) -> str:
    """Return the parameter that a bare value is meant for: the only one, or the only one that is required."""
    known = list(tool.parameters.get("properties", ()))
    required = list(tool.parameters.get("required", ()))
    for names in (known, required):
        if len(names) == 1:
            return str(names[0])
    raise ToolError(f"{tool.name}: the arguments are {shown(value)}; {_wanted(tool)}")


def _wanted(tool: Tool) -> str:
    required = tool.parameters.get("required", ())
    names = ", ".join(
        f"`{name}`{'' if name in required else ' (optional)'}"
        for name in tool.parameters.get("properties", ())
    )
    return f"write a JSON object with {names}." if names else "it takes none, write {}."


def text_of_result(value: Any) -> str:
    """Return what a tool gave back as text for a model. Errors: `ToolError` for what is no text or JSON."""
    text = _written(value).encode("utf-8", "replace").decode()
    if len(text) > LONGEST_RESULT:
        left = len(text) - LONGEST_RESULT
        return f"{text[:LONGEST_RESULT]}\n(cut here; {left} more characters were left out)"
    return text if text.strip() else EMPTY


def _written(value: Any) -> str:
    if value is None or isinstance(value, str):
        return DONE if value is None else value
    try:
        if isinstance(value, (bytes, bytearray, Iterator)):
            raise ValueError("it is neither text nor a value of JSON")
        written = to_json(value, inf_nan_mode="strings").decode()
    except (PydanticSerializationError, ValueError, RecursionError) as error:
        raise ToolError(
            f"The tool returned a {type(value).__name__} that cannot be shown: {error}.",
            remedy="A tool returns text, or what JSON can hold.",
        ) from error
    return str(json.loads(written)) if written.startswith('"') else written
