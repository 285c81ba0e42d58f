"""The tools that every loop has, made for one loop: `search`, `read`, `answer`, `give_up`."""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema

from refdesk.cleaning import visible
from refdesk.context import Evidence
from refdesk.documents import Hit
from refdesk.errors import ToolError
from refdesk.loop import prompts
from refdesk.loop.ledger import Found, Ledger
from refdesk.loop.tools import Tool, tool
from refdesk.retrieval.queries import plain

DEFAULT_TOOLS = ("search", "read", "answer", "give_up")
MOST = 20
"""Passages of one search, pieces of text around a passage."""
USUAL = 5
LONGEST_QUERY = 2000
"""Characters of what is searched for."""

SearchFunction = Callable[[str, int, tuple[str, ...]], Awaitable[tuple[Hit, ...]]]
"""Takes a query, how many hits are wanted, and collections; gives hits, best first."""
ReadFunction = Callable[[Hit, int, int], Awaitable[tuple[Hit, ...]]]
"""Takes a hit and how many chunks before and after it; gives these, without the hit. Errors: `NotFound`."""


@dataclass(frozen=True, slots=True)
class Again:
    """A search that was made before, by its key."""

    key: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Answered:
    text: str


@dataclass(frozen=True, slots=True)
class GaveUp:
    reason: str


def _number(value: Any) -> Any:
    """Read `3`, `"3"` and `"[[3]]"` as a number; a chunk id stays what it is."""
    bare = value.strip().strip("[]") if isinstance(value, str) else value
    return int(bare) if isinstance(bare, str) and bare.isascii() and bare.isdigit() else bare


Passage = Annotated[
    int | str,
    BeforeValidator(_number),
    WithJsonSchema({"type": "integer", "minimum": 1}),
    Field(description=prompts.PASSAGE),
]


@dataclass(slots=True, kw_only=True)
class Builtin:
    """Makes the tools of one loop."""

    ledger: Ledger
    search: SearchFunction
    read: ReadFunction
    collections: tuple[str, ...]
    """Where the loop may search; where there is one, no tool speaks of collections."""
    made: dict[tuple[str, ...], int] = field(default_factory=dict)
    """Searches by query and collections, to how many passages they asked for."""

    def tools(self) -> Iterator[Tool]:
        """Yield all of them, by the names of `DEFAULT_TOOLS`."""
        yield self._search_tool()
        yield tool(self._read, name="read", description=prompts.READ)
        yield tool(_answer, name="answer", description=prompts.ANSWER)
        yield tool(_give_up, name="give_up", description=prompts.GIVE_UP)

    def _search_tool(self) -> Tool:
        limits = Annotated[int, Field(ge=1, le=MOST, description=prompts.LIMIT)]
        queries = Annotated[str, Field(description=prompts.QUERY)]
        names: Any = Literal[self.collections]
        places = Annotated[names | None, Field(description=prompts.COLLECTION)]

        async def in_one(query: queries, limit: limits = USUAL) -> Found | Again:
            """Search where the loop may."""
            return await self._search(query, limit, self.collections)

        async def in_some(
            query: queries,
            limit: limits = USUAL,
            collection: places = None,
        ) -> Found | Again:
            return await self._search(query, limit, (collection,) if collection else self.collections)

        function: Any = in_some if len(self.collections) > 1 else in_one
        made: Tool = tool(function, name="search", description=prompts.SEARCH)
        return made

    async def _search(self, query: str, limit: int, collections: tuple[str, ...]) -> Found | Again:
        query = " ".join(visible(query).split())
        if not query:
            raise ToolError("search: `query` is blank; write what to search for.")
        if len(query) > LONGEST_QUERY:
            raise ToolError(f"search: `query` has {len(query)} characters; write a few telling words.")
        key = (plain(query), *collections)
        if self.made.get(key, 0) >= limit:
            return Again(key)
        self.made[key] = limit  # at once, so that the same call beside this one finds it
        try:
            hits = (await self.search(query, limit, collections))[:limit]
        except BaseException:
            self.made.pop(key, None)  # it may be tried again
            raise
        where = f" in {collections[0]}" if len(collections) == 1 < len(self.collections) else ""
        said = f"Found {len(hits)} passages{where}, the best first." if hits else NOTHING
        return Found(hits=hits, query=query, key=key, said=said)

    async def _read(
        self,
        passage: Passage,
        before: Annotated[int, Field(ge=0, le=MOST, description=prompts.BEFORE)] = 1,
        after: Annotated[int, Field(ge=0, le=MOST, description=prompts.AFTER)] = 1,
    ) -> Found:
        if (item := self.ledger.passage(passage)) is None:
            raise ToolError(f"read: there is no passage {passage}. {_shown(self.ledger.evidence)}")
        hits = await self.read(item.hit, before, after)
        said = f"The text around [[{item.number}]], in its order." if hits else ALONE.format(item.number)
        return Found(hits=hits, said=said)


async def _answer(text: Annotated[str, Field(description=prompts.TEXT)]) -> Answered:
    if not visible(text).strip():
        raise ToolError("answer: `text` is blank; write the answer, or call give_up.")
    return Answered(text.strip())


async def _give_up(reason: Annotated[str, Field(description=prompts.REASON)] = "") -> GaveUp:
    return GaveUp(reason.strip())


def _shown(evidence: Sequence[Evidence]) -> str:
    numbers = ", ".join(str(item.number) for item in evidence)
    return f"There are {numbers}." if numbers else "None was found yet; search first."


NOTHING = "Nothing was found. Try other words, fewer of them, or another name for the same thing."
ALONE = "There is nothing around [[{}]]: it is all that its document holds there."
