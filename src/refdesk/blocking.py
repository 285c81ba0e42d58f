"""The calls of `refdesk.desk.Desk` for code without an event loop, in scripts, threads and notebooks."""

import queue
from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack, aclosing
from functools import partial, update_wrapper
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

from anyio.from_thread import start_blocking_portal

from refdesk.desk import Desk, aopen
from refdesk.desk.conversing import ConversationVerbs
from refdesk.desk.front import Path
from refdesk.errors import InputError
from refdesk.events import Event

P = ParamSpec("P")
T = TypeVar("T")


def _blocking(
    method: Callable[Concatenate[Desk, P], Awaitable[T]],
) -> Callable[Concatenate["BlockingDesk", P], T]:
    """Make the blocking twin of a method, with the same parameters and docstring."""

    def call(self: "BlockingDesk", /, *args: P.args, **options: P.kwargs) -> T:
        return self._run(partial(method, self._desk, *args, **options))

    update_wrapper(call, method)
    return call


def _conversing(
    method: Callable[Concatenate[ConversationVerbs, P], Awaitable[T]],
) -> Callable[Concatenate["BlockingConversations", P], T]:
    """Make the blocking twin of a method of `desk.conversations`."""

    def call(self: "BlockingConversations", /, *args: P.args, **options: P.kwargs) -> T:
        return self._desk._run(partial(method, self._verbs, *args, **options))

    update_wrapper(call, method)
    return call


class BlockingConversations:
    """The calls of `desk.conversations`, see `refdesk.desk.conversing`."""

    def __init__(self, verbs: ConversationVerbs, desk: "BlockingDesk") -> None:
        self._verbs, self._desk = verbs, desk

    list = _conversing(ConversationVerbs.list)
    show = _conversing(ConversationVerbs.show)
    delete = _conversing(ConversationVerbs.delete)
    purge = _conversing(ConversationVerbs.purge)
    count = _conversing(ConversationVerbs.count)


class BlockingDesk:
    """A `Desk` whose calls return when they are done. Close it, or use it in `with`."""

    def __init__(self, library: Path | None = None, **options: Any) -> None:
        with ExitStack() as stack:
            self._portal = stack.enter_context(start_blocking_portal())
            opened = self._portal.wrap_async_context_manager(aopen(library, **options))
            self._desk: Desk = stack.enter_context(opened)
            self._stack = stack.pop_all()
        self._closed = False

    ingest = _blocking(Desk.ingest)
    ingest_text = _blocking(Desk.ingest_text)
    reembed = _blocking(Desk.reembed)
    search = _blocking(Desk.search)
    ask = _blocking(Desk.ask)
    run = _blocking(Desk.run)
    step = _blocking(Desk.step)
    start = _blocking(Desk.start)
    ground = _blocking(Desk.ground)
    recheck = _blocking(Desk.recheck)
    documents = _blocking(Desk.documents)
    document = _blocking(Desk.document)
    delete = _blocking(Desk.delete)
    collections = _blocking(Desk.collections)
    collection = _blocking(Desk.collection)
    create_collection = _blocking(Desk.create_collection)
    delete_collection = _blocking(Desk.delete_collection)
    purge_collection = _blocking(Desk.purge_collection)
    wipe = _blocking(Desk.wipe)
    failures = _blocking(Desk.failures)
    vector_sets = _blocking(Desk.vector_sets)

    @property
    def conversations(self) -> BlockingConversations:
        """The calls on conversations: list, show, delete, purge, count."""
        return BlockingConversations(self._desk.conversations, self)

    def stream(self, question: str, **options: Any) -> Iterator[Event]:
        """Give the events of an answer, see `Desk.stream`. Leaving the loop early stops the work."""
        box: queue.SimpleQueue[Event | None] = queue.SimpleQueue()

        async def pump() -> None:
            try:
                async with aclosing(self._desk.stream(question, **options)) as events:
                    async for event in events:
                        box.put(event)
            finally:
                box.put(None)

        self._refuse_closed()
        task = self._portal.start_task_soon(pump)
        try:
            while (event := box.get()) is not None:
                yield event
            task.result()
        finally:
            task.cancel()

    def close(self) -> None:
        """Close the library. Calls after that are refused with `InputError`."""
        self._closed = True
        self._stack.close()

    def _refuse_closed(self) -> None:
        if self._closed:
            raise InputError("The desk is closed.", remedy="Open it again, or call it inside `with`.")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def _run(self, call: Callable[[], Awaitable[T]]) -> T:
        self._refuse_closed()
        task = self._portal.start_task_soon(call)
        try:
            return task.result()
        finally:
            task.cancel()
