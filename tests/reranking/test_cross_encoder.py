import json
import shutil
from pathlib import Path

import numpy as np
import onnx
import pytest

from refdesk.embedding.windows import text_windows
from refdesk.errors import MissingExtra, ModelError
from refdesk.models.folder import read_folder
from refdesk.models.graphs import graph_file
from refdesk.reranking.cross_encoder import OnnxPairModel, logit, open_cross_encoder
from refdesk.testing.models import write_tiny_model
from refdesk.testing.rerankers import QUESTION, check_reranker, sample_hits

pytestmark = pytest.mark.anyio


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A cross-encoder with random weights; a pair has at most 64 tokens, and a token is a letter."""
    return write_tiny_model(tmp_path / "tiny", head="logits", max_length=64)


async def test_a_bert_classifier_keeps_the_contract(folder: Path, tmp_path: Path) -> None:
    reranker = open_cross_encoder(folder, cache=tmp_path / "cache")
    assert reranker.name == "tiny"
    await check_reranker(reranker, trained=False)


async def test_a_roberta_classifier_keeps_the_contract(tmp_path: Path) -> None:
    folder = write_tiny_model(tmp_path / "tiny", head="logits", family="roberta", max_length=64)
    await check_reranker(open_cross_encoder(folder, cache=tmp_path / "cache"), trained=False)


async def test_a_graph_in_the_folder_is_used_as_it_is(folder: Path, tmp_path: Path) -> None:
    exported = open_cross_encoder(folder, cache=tmp_path / "cache")
    graph = graph_file(read_folder(folder), cache=tmp_path / "cache", precision="fp32", head="logits")
    ready = tmp_path / "ready"
    (ready / "onnx").mkdir(parents=True)
    shutil.copy(graph, ready / "onnx" / "model.onnx")
    for name in ("tokenizer.json", "config.json"):
        shutil.copy(folder / name, ready)
    found = await open_cross_encoder(ready).rerank(QUESTION, sample_hits())
    assert found == await exported.rerank(QUESTION, sample_hits())


async def test_a_long_chunk_scores_as_its_best_window(folder: Path, tmp_path: Path) -> None:
    graph = graph_file(read_folder(folder), cache=tmp_path / "cache", precision="fp32", head="logits")
    model = OnnxPairModel(graph, folder, 64)
    long = "river stones and old mills; invoices of the year; processes share no memory; thirty days"
    windows = text_windows(long, model.count, model.limit - model.count(QUESTION))
    assert len(windows) > 2
    reranker = open_cross_encoder(folder, cache=tmp_path / "cache")
    ranked = await reranker.rerank(QUESTION, sample_hits([long, *windows]))
    scores = {hit.chunk.text: hit.rerank_score for hit in ranked}
    alone = [model.score(QUESTION, window) for window in windows]
    assert [scores[window] for window in windows] == pytest.approx(alone)
    assert len(set(alone)) == len(windows)
    assert scores[long] == max(alone)


def test_two_labels_give_the_lead_of_the_second() -> None:
    assert logit(np.array([1.0, 3.5], np.float32)) == 2.5
    with pytest.raises(ModelError, match="3 labels"):
        logit(np.zeros(3, np.float32))
    with pytest.raises(ModelError, match="no number"):
        logit(np.array([np.nan], np.float32))


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="absent"):
        open_cross_encoder(tmp_path / "absent")
    with pytest.raises(ModelError, match="neither"):
        open_cross_encoder(tmp_path)


def test_a_damaged_graph_is_named(folder: Path) -> None:
    (folder / "model.onnx").write_bytes(b"no graph")
    with pytest.raises(ModelError, match=r"model\.onnx"):
        open_cross_encoder(folder)


def test_a_folder_without_tokenizer_is_named(folder: Path, tmp_path: Path) -> None:
    (folder / "tokenizer.json").unlink()
    graph = onnx.helper.make_model(onnx.helper.make_graph([], "empty", [], []))
    onnx.save(graph, folder / "model.onnx")
    with pytest.raises(ModelError, match=r"tokenizer\.json"):
        open_cross_encoder(folder)


def test_other_architectures_need_the_extra(folder: Path) -> None:
    (folder / "config.json").write_text(json.dumps({"model_type": "deberta-v2"}))
    with pytest.raises((MissingExtra, ModelError)):
        open_cross_encoder(folder)
