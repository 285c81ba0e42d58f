"""The words for what is kept of conversations."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from refdesk.context import Answer, Context, Turn
from refdesk.documents import Hit, Mode
from refdesk.errors import InputError
from refdesk.results import Results

LONGEST_NAME = 500
"""Characters of the name of a user or a conversation."""
LONGEST_TITLE = 80

Said = Turn | Answer
"""What a user said, or the desk; an `Answer` is kept whole."""


@dataclass(frozen=True, slots=True)
class Key:
    """Whose conversation, and which. Errors: `InputError` for names that cannot be used."""

    user: str
    """Empty for the one user of a desk that knows no users."""
    conversation: str

    def __post_init__(self) -> None:
        check_name("user", self.user)
        check_name("conversation", self.conversation)
        if not self.conversation.strip():
            raise InputError(f"A conversation is named {self.conversation!r}; the name may not be blank.")

    @property
    def digest(self) -> bytes:
        """What stands for it in an index, however long its names are."""
        return hashlib.sha256(f"{self.user}\0{self.conversation}".encode()).digest()


def key_of(context: Context) -> Key:
    """Return whose conversation a question belongs to, and which. Errors: `InputError`.

    One who asks by name has to have conversations of their own: else whoever asks without, or as another,
    would read what was answered from documents that they may not read.
    """
    if context.principals and not context.user:
        raise InputError(
            f"The question belongs to the conversation {context.conversation!r:.80} of nobody, and is asked"
            f" as {', '.join(context.principals):.80}.",
            remedy="Say whose conversation it is: user=, on the command line --user.",
        )
    return Key(context.user, context.conversation)


def check_name(what: str, name: object) -> None:
    """Refuse what cannot name a user or a conversation. Errors: `InputError`."""
    if not isinstance(name, str):
        raise InputError(f"The name of the {what} is {name!r:.80}; text is allowed.")
    if len(name) > LONGEST_NAME:
        raise InputError(f"The name of the {what} has {len(name)} characters; {LONGEST_NAME} are allowed.")
    if any(one == "\0" or "\ud800" <= one <= "\udfff" for one in name):
        raise InputError(f"The name of the {what} is {name!r:.80}; a NUL or half a character is in it.")


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredMessage:
    """One message, as it was said."""

    id: str
    role: Literal["user", "assistant"]
    text: str
    at: datetime
    """When it was added, UTC; never before the message it follows."""
    answer: Answer | None = None
    """The answer whole, with citations, zone, refusal, warnings, model and grounding; without the texts that
    it was written from, and without timings."""

    @property
    def turn(self) -> Turn:
        return Turn(self.role, self.text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """What a list of conversations shows of one."""

    user: str
    name: str
    title: str
    """The beginning of the first message."""
    messages: int
    hits: int
    """Passages that are kept for `recall`."""
    created_at: datetime
    used_at: datetime
    """When something was last added."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptHit:
    """A hit without its text, title, address and metadata: those are read again for whoever asks later."""

    chunk_id: str
    document_id: str
    collection: str
    vector_score: float | None = None
    keyword_score: float | None = None
    fused_score: float | None = None
    rerank_score: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptResults:
    """Results as they are kept, best hit first."""

    question: str
    collection: str = ""
    mode: Mode | None = None
    hits: tuple[KeptHit, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """How much is kept, or was deleted."""

    conversations: int = 0
    messages: int = 0
    hits: int = 0
    """Passages that are kept for `recall`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgotten:
    """What conversations had of documents."""

    hits: int = 0
    """Kept passages of them; they are gone."""
    answers: int = 0
    """Answers that cite them; gone where that was asked for."""


def kept(results: Results) -> KeptResults:
    """Return results as they may be kept."""
    return KeptResults(
        question=results.question,
        collection=results.collection,
        mode=results.mode,
        hits=tuple(_kept_hit(hit) for hit in results.hits),
    )


def _kept_hit(hit: Hit) -> KeptHit:
    return KeptHit(
        chunk_id=hit.chunk.chunk_id,
        document_id=hit.chunk.document_id,
        collection=hit.chunk.collection,
        vector_score=hit.vector_score,
        keyword_score=hit.keyword_score,
        fused_score=hit.fused_score,
        rerank_score=hit.rerank_score,
    )


def title_of(messages: Sequence[StoredMessage]) -> str:
    """Return the beginning of the first message on one line."""
    words = " ".join(messages[0].text[: 10 * LONGEST_TITLE].split()) if messages else ""
    return words if len(words) <= LONGEST_TITLE else words[: LONGEST_TITLE - 1].rstrip() + "…"
