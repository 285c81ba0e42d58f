"""The conformance suite for stores: what `refdesk.stores.Store` promises, as checks that any store can run.

    @pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
    async def test_my_store(check):
        await check(open_my_store)      # an async function that returns a new, empty store

    @pytest.mark.parametrize("check", SHARED_CHECKS, ids=lambda check: check.__name__)
    async def test_my_store_in_several_processes(check, tmp_path):
        await check(partial(open_my_store, tmp_path))   # always the same store, empty at first

A check returns when the store keeps the promise and raises `AssertionError` when it does not.
"""

from refdesk.testing.stores import (
    embedded,
    extremes,
    filtering,
    keywords,
    listing,
    meanwhile,
    noting,
    permissions,
    principals,
    processes,
    reading,
    refusing,
    remaking,
    revoking,
    scoping,
    scripts,
    writing,
)
from refdesk.testing.stores.promise import Check, OpenStore, Reopen, SharedCheck

CHECKS: tuple[Check, ...] = (
    *writing.CHECKS,
    *noting.CHECKS,
    *reading.CHECKS,
    *scoping.CHECKS,
    *permissions.CHECKS,
    *principals.CHECKS,
    *revoking.CHECKS,
    *listing.CHECKS,
    *refusing.CHECKS,
    *keywords.CHECKS,
    *filtering.CHECKS,
    *remaking.CHECKS,
    *embedded.CHECKS,
    *meanwhile.CHECKS,
    *scripts.CHECKS,
    *extremes.CHECKS,
)
"""Each takes a function that opens a new, empty store."""

SHARED_CHECKS: tuple[SharedCheck, ...] = processes.CHECKS
"""Each takes a function that can be pickled and opens one store in any process, which is empty at first."""

__all__ = ["CHECKS", "SHARED_CHECKS", "Check", "OpenStore", "Reopen", "SharedCheck"]
