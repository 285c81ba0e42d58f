"""What is kept of conversations, to JSON and back. What comes back is equal, to the last character."""

import json
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any

from pydantic import TypeAdapter, ValidationError

from refdesk.context import Answer
from refdesk.conversations.kept import KeptResults, Said, StoredMessage
from refdesk.errors import StoreError

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
TICK = timedelta(microseconds=1)
EVER = -(2**62)
"""Before every time, in ticks."""


def ticks(at: datetime) -> int:
    """Return a time as microseconds since 1970."""
    return (at - EPOCH) // TICK


def time_of(at: int) -> datetime:
    return EPOCH + at * TICK


def messages_of(said: Iterable[Said], at: datetime) -> tuple[StoredMessage, ...]:
    """Return what was said as messages, without blank ones."""
    made = (_message(one, at) for one in said)
    return tuple(one for one in made if one.text.strip())


def _message(said: Said, at: datetime) -> StoredMessage:
    name = uuid.uuid4().hex
    if isinstance(said, Answer):
        answer = replace(said, evidence=(), timings={})
        return StoredMessage(id=name, role="assistant", text=said.text, at=at, answer=answer)
    return StoredMessage(id=name, role=said.role, text=said.text, at=at)


def cited(message: StoredMessage) -> tuple[str, ...]:
    """Return the ids of the documents that a message quotes, also as proof of a single statement."""
    if message.answer is None:
        return ()
    grounding = message.answer.grounding
    claims = grounding.claims if grounding else ()
    found = [one.document_id for one in message.answer.citations]
    found += [claim.source.document_id for claim in claims if claim.source]
    return tuple(dict.fromkeys(found))


def hits_of(results: Sequence[KeptResults]) -> dict[str, int]:
    """Count the hits of each document."""
    counts: dict[str, int] = {}
    for one in results:
        for hit in one.hits:
            counts[hit.document_id] = counts.get(hit.document_id, 0) + 1
    return counts


def without(results: Sequence[KeptResults], documents: frozenset[str]) -> tuple[KeptResults, ...]:
    """Return results without the hits of documents; lists that lose all of theirs go, too."""
    left = ((one, tuple(hit for hit in one.hits if hit.document_id not in documents)) for one in results)
    return tuple(replace(one, hits=hits) for one, hits in left if hits or not one.hits)


def dump(value: Answer | str | Sequence[KeptResults]) -> str:
    """Return JSON in ASCII, so that every character comes back, NUL and halves of pairs included."""
    if isinstance(value, str):
        return json.dumps(value)
    return json.dumps(asdict(value) if isinstance(value, Answer) else [asdict(one) for one in value])


def columns(message: StoredMessage) -> tuple[str, str | None]:
    """Return the text of a message as it is stored, and its answer without the text."""
    answer = None if message.answer is None else dump(replace(message.answer, text=""))
    return dump(message.text), answer


def message_in(name: str, role: Any, at: int, text: str, answer: str | None) -> StoredMessage:
    """Return the message of a row. Errors: `StoreError`."""
    said = _loaded(str, text)
    whole = None if answer is None else replace(_loaded(Answer, answer), text=said)
    return StoredMessage(id=name, role=role, text=said, at=time_of(at), answer=whole)


def load_results(stored: str | None) -> tuple[KeptResults, ...]:
    return () if stored is None else _loaded(tuple[KeptResults, ...], stored)


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def load_text(stored: str) -> str:
    return _loaded(str, stored)  # type: ignore[no-any-return]


def _loaded(kind: Any, stored: str) -> Any:
    try:
        return _adapter(kind).validate_python(json.loads(stored))
    except (ValueError, ValidationError) as error:
        raise StoreError(
            f"A stored conversation cannot be read: {str(error).splitlines()[0]}.",
            remedy="Delete it, or restore it from a backup: refdesk conversations list",
        ) from error
