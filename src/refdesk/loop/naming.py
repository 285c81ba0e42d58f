"""The option `tools`: names of built-in tools, tools, and functions with types."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler, ValidationInfo
from pydantic_core import CoreSchema, core_schema

from refdesk.errors import InputError
from refdesk.loop.builtin import DEFAULT_TOOLS
from refdesk.loop.tools import Tool, tools_of


@dataclass(frozen=True, slots=True)
class ToolsOption:
    """Marks an option that takes tools. In YAML others than the built-in ones are looked up by name."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.with_info_plain_validator_function(self._read)

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        return {"type": "array", "items": {"type": "string"}, "minItems": 1}

    def _read(self, value: Any, info: ValidationInfo) -> Any:
        if isinstance(value, str | Mapping) or not isinstance(value, Sequence) or not value:
            raise ValueError(f"is {value!r:.80}; allowed is a list of tools, not an empty one")
        given: Mapping[str, Any] = (info.context or {}).get("workers", {})
        tools = tuple(_named(one, given) if isinstance(one, str) else one for one in value)
        try:
            chosen(tools)
        except InputError as error:
            raise ValueError(f"cannot be used: {error}") from error
        return tools


def chosen(tools: Sequence[Any]) -> tuple[tuple[str, ...], tuple[Tool, ...]]:
    """Return the names of built-in tools, and the other tools. Errors: `InputError`."""
    names = tuple(one for one in tools if isinstance(one, str))
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise InputError(f"The tool {twice!r} is named twice.", remedy="Name it once.")
    return names, tools_of([one for one in tools if not isinstance(one, str)], taken=names)


def _named(name: str, given: Mapping[str, Any]) -> Any:
    if name in DEFAULT_TOOLS:
        return name
    if name in given:
        return given[name]
    known = (*DEFAULT_TOOLS, *given)
    near = get_close_matches(name, known, 1)
    hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(known)}"
    raise ValueError(f"names the tool {name!r}, which was not given; {hint}")
