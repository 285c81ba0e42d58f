"""The conformance suite for stores: what `refdesk.stores.Store` promises, as checks that any store can run.

    @pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
    async def test_my_store(check):
        await check(open_my_store)      # an async function that returns a new, empty store

A check returns when the store keeps the promise and raises `AssertionError` when it does not.
"""

from refdesk.testing.stores import filtering, keywords, reading, refusing, remaking, writing
from refdesk.testing.stores.promise import Check, OpenStore

CHECKS: tuple[Check, ...] = (
    *writing.CHECKS,
    *reading.CHECKS,
    *refusing.CHECKS,
    *keywords.CHECKS,
    *filtering.CHECKS,
    *remaking.CHECKS,
)

__all__ = ["CHECKS", "Check", "OpenStore"]
