"""Checks of principals: they are compared exactly, however they are written and however many there are."""

from refdesk.errors import InputError
from refdesk.stores import Reader
from refdesk.testing.stores.arms import assert_sees
from refdesk.testing.stores.permissions import EVERYTHING, FREE, asking, owned
from refdesk.testing.stores.promise import Check, OpenStore
from refdesk.testing.stores.samples import COLLECTION, put, sample, vector


async def ten_thousand_principals_may_ask(open_store: OpenStore) -> None:
    store = await open_store()
    last = owned("last", "group:9999")
    many = owned("many", *(f"reader:{n}" for n in range(10_000)))
    not_for_them = owned("not for them", "group:10000", "group:99")
    await put(store, FREE, last, many, not_for_them)
    everything = (FREE, last, many, not_for_them)
    groups = [f"group:{n}" for n in range(100, 10_000)]
    await assert_sees(await store.reader(asking(*groups)), everything, [FREE, last])
    others = [f"reader:{n}" for n in range(9_999, 20_000)]
    await assert_sees(await store.reader(asking(*others)), everything, [FREE, many])
    assert (await store.entries(COLLECTION))["many"].acl == many.document.acl


NAMES = (
    *("anna", "Anna", "ANNA", " anna", "anna ", "anna\t", "anna\n", "an na", "ann_", "ann%", "ann*"),
    *("^anna$", "ann\u00e4", "anna\u0308", "\u200banna", "\ufeffanna", "\uff41nna", "\u0430nna"),
    *("ANN\u0130", "straße", "STRASSE", "anna,bert", "{anna,bert}", '["anna"]', "anna\x1fbert"),
    *("anna bert", "anna|bert", "anna\\", "\\", "'", '"', "' OR '1'='1", "x'); DROP TABLE documents; --"),
    *("NULL", "null", "None", "0", "true", "*", "%", "$1", "%s", "{}", "Public", "PUBLIC", " public"),
    *("public ", "数据", "😀", "مرحبا", "group:anna", "user:anna", "x" * 1_000),
)
"""Principals that only a careless comparison takes for one another, or for something else."""


async def principals_are_compared_exactly(open_store: OpenStore) -> None:
    store = await open_store()
    documents = [sample(f"s{n:02}", f"words {n}", acl=(name,)) for n, name in enumerate(NAMES)]
    await put(store, *documents)
    assert [each.acl for each in await (await store.reader(EVERYTHING)).documents()] == [
        each.document.acl for each in documents
    ]
    for n, name in enumerate(NAMES):
        await _assert_only(await store.reader(asking(name)), f"s{n:02}")
    for principals in ((), ("",), ("ann",), ("anna", "bert")):
        reader = await store.reader(asking(*principals))
        assert await reader.count() == (int("anna" in principals), int("anna" in principals))


async def _assert_only(reader: Reader, source_id: str) -> None:
    assert [each.source_id for each in await reader.documents()] == [source_id]
    assert [hit.source_id for hit in await reader.vector_search(vector("x"), top_k=99)] == [source_id]
    assert [hit.source_id for hit in await reader.keyword_search(["words"], top_k=99)] == [source_id]


async def a_principal_with_nul_is_kept_or_refused(open_store: OpenStore) -> None:
    store = await open_store()
    await store.create(COLLECTION)
    document = owned("nul", "anna\x00bert")
    try:
        await put(store, document)
    except InputError:
        assert await store.entries(COLLECTION) == {}
        return
    await assert_sees(await store.reader(asking("anna\x00bert")), [document], [document])
    for principal in ("anna", "bert", "anna\x00", "annabert"):
        await assert_sees(await store.reader(asking(principal)), [document], [])


CHECKS: tuple[Check, ...] = (
    ten_thousand_principals_may_ask,
    principals_are_compared_exactly,
    a_principal_with_nul_is_kept_or_refused,
)
