from dataclasses import replace
from pathlib import Path

import anyio
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from refdesk.embedding import TokenEmbedder
from refdesk.embedding.onnx import TEXTS_PER_JOB, OnnxEmbedder, jobs, open_session
from refdesk.embedding.tokens import unit_rows
from refdesk.errors import InputError, ModelError
from refdesk.models.folder import read_folder
from refdesk.models.graphs import Precision
from refdesk.testing.embedders import check_embedder

pytestmark = pytest.mark.anyio

TEXTS = [f"text {number} " + "ab" * (number % 11) for number in range(3 * TEXTS_PER_JOB + 1)]


def embedder(folder: Path, precision: Precision = "fp32", **changes: str) -> OnnxEmbedder:
    model = replace(read_folder(folder), **changes)  # type: ignore[arg-type]
    return OnnxEmbedder(model, cache=folder.parent / "cache", precision=precision)


@pytest.mark.parametrize("precision", ["int8", "fp32"])
async def test_it_keeps_the_contract(folder: Path, precision: Precision) -> None:
    await check_embedder(embedder(folder, precision))


async def test_it_keeps_the_contract_with_prefixes(folder: Path) -> None:
    await check_embedder(embedder(folder, query_prefix="q: ", document_prefix="doc: "))


async def test_int8_vectors_do_not_depend_on_the_batch_at_all(folder: Path) -> None:
    int8 = embedder(folder, "int8")
    together = await int8.embed_documents(TEXTS)
    alone = np.concatenate([await int8.embed_documents([text]) for text in TEXTS])
    assert np.array_equal(together, alone)


async def test_special_tokens_and_prefix_count(folder: Path) -> None:
    plain, prefixed = embedder(folder), embedder(folder, document_prefix="doc: ")
    assert plain.max_tokens == 30
    assert prefixed.max_tokens == 30 - prefixed.count_tokens("doc: ")
    await prefixed.embed_documents(["a" * prefixed.max_tokens])
    with pytest.raises(InputError, match=r"Text 2 of 2 has 27 tokens; tiny takes 26\. Split"):
        await prefixed.embed_documents(["a", "a" * 27])


async def test_a_long_query_is_the_mean_of_its_windows(folder: Path) -> None:
    tiny = embedder(folder)
    windows = await tiny.embed_queries(["a" * 30, "b" * 30])
    whole = await tiny.embed_queries(["a" * 30 + " " + "b" * 30])
    assert np.allclose(whole[0], unit_rows(windows.mean(axis=0)), atol=1e-5)


async def test_tokens_of_a_long_text_are_all_there(folder: Path) -> None:
    text = "ab c" * 50
    tokens = (await embedder(folder).embed_tokens([text]))[0]
    assert "".join(text[start:end] for start, end in tokens.offsets) == text.replace(" ", "")
    assert tokens.vectors.shape == (150, 32)


async def test_offsets_leave_the_prefix_out(folder: Path) -> None:
    tokens = (await embedder(folder, document_prefix="doc: ").embed_tokens(["né x"]))[0]
    assert tokens.offsets == ((0, 1), (1, 2), (3, 4))


async def test_one_pass_gives_the_same_as_two(folder: Path) -> None:
    tiny = embedder(folder, "int8")
    vectors, tokens = await tiny.embed_documents_with_tokens(TEXTS)
    assert np.array_equal(vectors, await tiny.embed_documents(TEXTS))
    separate = await tiny.embed_tokens(TEXTS)
    assert all(np.array_equal(one.vectors, two.vectors) for one, two in zip(tokens, separate, strict=True))
    assert isinstance(tiny, TokenEmbedder)


async def test_nothing_gives_nothing(folder: Path) -> None:
    tiny = embedder(folder)
    assert await tiny.embed_tokens([]) == []
    vectors, tokens = await tiny.embed_documents_with_tokens([])
    assert (vectors.shape, tokens) == ((0, 32), [])


async def test_many_calls_at_once_do_not_mix(folder: Path) -> None:
    tiny = embedder(folder)
    expected = await tiny.embed_documents(TEXTS)
    results: dict[int, np.ndarray] = {}

    async def one(number: int) -> None:
        results[number] = (await tiny.embed_queries([TEXTS[number]]))[0]

    async with anyio.create_task_group() as group:
        for number in range(len(TEXTS)):
            group.start_soon(one, number)
    assert all(np.allclose(results[number], expected[number], atol=1e-5) for number in results)


async def test_a_call_can_be_cancelled(folder: Path) -> None:
    tiny = embedder(folder)
    with anyio.CancelScope() as scope:
        scope.cancel()
        await tiny.embed_documents(TEXTS)
    assert scope.cancelled_caught
    assert (await tiny.embed_documents(TEXTS[:1])).shape == (1, 32)


async def test_text_that_is_no_unicode_is_refused(folder: Path) -> None:
    with pytest.raises(InputError, match="not valid Unicode"):
        await embedder(folder).embed_documents(["fine", "\ud800"])


async def test_precision_and_weights_are_part_of_the_space(folder: Path) -> None:
    assert embedder(folder, "int8").fingerprint != embedder(folder, "fp32").fingerprint
    assert len(embedder(folder).fingerprint.revision) == 16


def test_one_embedder_serves_several_event_loops(folder: Path) -> None:
    tiny = embedder(folder)
    first, second = (anyio.run(tiny.embed_queries, ["same"]) for _ in range(2))
    assert np.array_equal(first, second)


def test_a_prefix_longer_than_the_input_is_refused(folder: Path) -> None:
    with pytest.raises(InputError, match="leave no room"):
        embedder(folder, query_prefix="x" * 30)


def test_a_graph_that_cannot_be_opened_is_named(tmp_path: Path) -> None:
    (tmp_path / "int8.onnx").write_bytes(b"nothing")
    with pytest.raises(ModelError, match=r"int8\.onnx' cannot be opened"):
        open_session(tmp_path / "int8.onnx")


@given(st.lists(st.integers(1, 512)))
def test_jobs_hold_every_input_once(lengths: list[int]) -> None:
    grouped = jobs(lengths)
    assert sorted(index for job in grouped for index in job) == list(range(len(lengths)))
    assert all(len(job) <= TEXTS_PER_JOB for job in grouped)
    ordered = [lengths[index] for job in grouped for index in job]
    assert ordered == sorted(lengths, reverse=True)
