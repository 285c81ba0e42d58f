"""Stores that break one promise each: a real store behind a wrapper that does one thing wrong.

`caught_by` names the checks that must notice; `BROKEN` collects all of them.
"""

from collections.abc import Callable
from typing import Any, TypeVar

from refdesk.documents import Scope
from refdesk.stores import Reader, Store
from refdesk.testing.stores import Check

Kind = TypeVar("Kind", bound=type)
Break = Callable[[Store], Any]
BROKEN: list[tuple[str, Break, Check]] = []
"""Name of the defect, what makes a store that has it, and a check that notices."""


class BrokenStore:
    """Passes everything on; a subclass does something else instead."""

    def __init__(self, store: Store) -> None:
        self.store = store

    def __getattr__(self, name: str) -> Any:
        return getattr(self.store, name)


class BrokenReader:
    """Passes everything on; a subclass does something else instead. `whole` sees what is hidden too."""

    def __init__(self, reader: Reader, whole: Reader, store: Store, scope: Scope) -> None:
        self.reader = reader
        self.whole = whole
        self.store = store
        self.scope = scope

    def __getattr__(self, name: str) -> Any:
        return getattr(self.reader, name)


def with_readers(kind: Callable[..., BrokenReader]) -> type[BrokenStore]:
    """Return a store whose readers are broken."""

    class Store(BrokenStore):
        async def reader(self, scope: Scope) -> Any:
            whole = await self.store.reader(Scope(scope.collections, upkeep=True))
            return kind(await self.store.reader(scope), whole, self.store, scope)

    return Store


def caught_by(*checks: Check) -> Callable[[Kind], Kind]:
    """Note a broken store, or a broken reader, and the checks that must fail for it."""

    def register(kind: Kind) -> Kind:
        store = with_readers(kind) if issubclass(kind, BrokenReader) else kind
        BROKEN.extend((kind.__name__, store, check) for check in checks)
        return kind

    return register
