"""Prompts of one's own: functions in code, templates with `{placeholders}` in YAML."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import CoreSchema, core_schema

from refdesk.documents import Hit
from refdesk.errors import InputError
from refdesk.evidence import evidence_block, number_hits
from refdesk.llm import Message

Prompt = Callable[..., str | tuple[Message, ...]] | str
"""A function of the step's values, in their order, or a template with their names in braces."""

_PLACEHOLDER = re.compile(r"\{([a-z_]+)\}")


def messages_of(prompt: Prompt, **values: Any) -> tuple[Message, ...]:
    """Return what a prompt of one's own asks. Errors: `InputError` where it returns no text."""
    if isinstance(prompt, str):
        filled = _PLACEHOLDER.sub(lambda found: _text(values[found[1]]), prompt)
        return (Message("user", filled),)
    written = prompt(*values.values())
    if isinstance(written, str) and written.strip():
        return (Message("user", written),)
    if isinstance(written, tuple) and written and all(isinstance(one, Message) for one in written):
        return written
    raise InputError(
        f"The prompt function returned {written!r:.80}.", remedy="Return text, or a tuple of messages."
    )


def _text(value: Any) -> str:
    """Return a value as a template shows it: hits as a numbered evidence block, lists as lines."""
    if isinstance(value, str):
        return value
    if isinstance(value, Sequence) and value and all(isinstance(one, Hit) for one in value):
        return evidence_block(number_hits(value)).text
    return "\n".join(str(one) for one in value) if isinstance(value, Sequence) else str(value)


@dataclass(frozen=True, slots=True)
class PromptOption:
    """Marks an option that takes a prompt, with the names that a template may use, in order."""

    names: tuple[str, ...]

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(self._read)

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        shown = ", ".join(f"{{{name}}}" for name in self.names)
        return {"anyOf": [{"type": "string"}, {"type": "null"}], "description": f"May contain {shown}."}

    def _read(self, value: Any) -> Any:
        if value is None or (callable(value) and not isinstance(value, str)):
            return value
        if not isinstance(value, str) or not value.strip():
            raise ValueError(f"is {value!r:.80}; allowed are a template and a function")
        unknown = [name for name in _PLACEHOLDER.findall(value) if name not in self.names]
        if unknown:
            raise ValueError(f"has the placeholder {{{unknown[0]}}}; allowed: {', '.join(self.names)}")
        return value
