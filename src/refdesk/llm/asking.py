"""Ask a model for values of a declared form."""

from collections.abc import Callable
from functools import cache
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from refdesk.errors import ReplyUnreadable
from refdesk.llm import DEFAULTS, LLM, Message, Options
from refdesk.llm.complete import complete
from refdesk.llm.replies import read_json

T = TypeVar("T")


async def ask_for(kind: type[T], llm: LLM, messages: tuple[Message, ...], options: Options = DEFAULTS) -> T:
    """Return a reply as a value of `kind`, a dataclass that pydantic can check; ask once for a repair.

    Errors: `ReplyUnreadable` where the repaired reply cannot be read either, `LLMError`.
    """
    reply = await complete(llm, messages, options)
    try:
        value: T = _adapter(kind).validate_python(read_json(reply))
        return value
    except ValidationError as error:
        raise ReplyUnreadable(f"The reply {reply!r:.200} does not fit: {error}", reply=reply) from error


_adapter: Callable[[Any], TypeAdapter[Any]] = cache(TypeAdapter)
