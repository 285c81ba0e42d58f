"""What the history and a model are told of a call: arguments, results, mistakes."""

from collections.abc import Mapping
from typing import Any

from pydantic_core import PydanticSerializationError, to_jsonable_python

from refdesk.cleaning import visible
from refdesk.documents import Hit
from refdesk.errors import RefdeskError, ToolError
from refdesk.evidence import neutralise, quoted_data
from refdesk.llm import ToolCall
from refdesk.llm.failures import scrub
from refdesk.loop.ledger import Found, Noted
from refdesk.loop.tools import text_of_result
from refdesk.results import Results
from refdesk.tooluse import ToolOutcome


def as_found(returned: Any) -> Any:
    """Return hits that a tool of the user's own found as passages, anything else as it is."""
    if isinstance(returned, Results):
        returned = returned.hits
    if isinstance(returned, Hit):
        returned = (returned,)
    if isinstance(returned, list | tuple) and returned and all(isinstance(one, Hit) for one in returned):
        return Found(hits=tuple(returned), said=f"Found {len(returned)} passages.")
    return returned


def chunk_ids(found: Found) -> tuple[str, ...]:
    return tuple(dict.fromkeys(hit.chunk.chunk_id for hit in found.hits))


def figures(found: Any) -> dict[str, Any]:
    return {"query": found.query, "hits": len(found.hits)} if isinstance(found, Found) else {}


def remarks(noted: Noted, cap: int) -> list[str]:
    """Say what did not stay."""
    said = []
    if noted.full:
        said.append(f"{noted.full} of them found no room: at most {cap} passages are kept.")
    if noted.dropped:
        gone = ", ".join(f"[[{number}]]" for number in noted.dropped)
        said.append(f"{gone} gave way to better ones; do not cite them any more.")
    return said


def raw(call: ToolCall) -> dict[str, Any]:
    return {"raw": visible(call.arguments[:LONGEST_RAW])}


def recorded(values: Mapping[str, Any], call: ToolCall) -> Mapping[str, Any]:
    """Return arguments as the history has them: as JSON, without what nobody sees in their texts."""
    try:
        recorded: Mapping[str, Any] = _seen(to_jsonable_python(values, fallback=str, inf_nan_mode="strings"))
    except (PydanticSerializationError, ValueError, RecursionError):
        return raw(call)
    return recorded


def _seen(value: Any) -> Any:
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, dict):
        return {visible(str(key)): _seen(one) for key, one in value.items()}
    return [_seen(one) for one in value] if isinstance(value, list) else value


def result_text(name: str, returned: Any) -> tuple[str, ToolOutcome]:
    try:
        return quoted_data(text_of_result(returned)), "done"
    except ToolError as error:
        return f"{name}: {error}", "error"


def failure_text(name: str, error: BaseException) -> str:
    """Return what a model is told of a failure."""
    if isinstance(error, ToolError):
        return str(error)
    kind = "" if isinstance(error, RefdeskError) else f"{type(error).__name__}: "
    said = " ".join(neutralise(scrub(f"{kind}{error}"[: 10 * LONGEST_ERROR])).split())
    return f"{name} failed: {said[:LONGEST_ERROR]}"


LONGEST_ERROR = 400
LONGEST_RAW = 2000
"""Characters of arguments that could not be read, in the history."""
