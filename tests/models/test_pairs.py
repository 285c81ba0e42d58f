import json
from pathlib import Path

import pytest

from refdesk.errors import ModelError
from refdesk.models.pairs import graph_in, longest_pair


def test_the_length_of_a_pair_is_the_least_that_the_folder_names(tmp_path: Path) -> None:
    assert longest_pair(tmp_path) == 512
    (tmp_path / "config.json").write_text(json.dumps({"max_position_embeddings": 300}))
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"model_max_length": int(1e30)}))
    assert longest_pair(tmp_path) == 300
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"model_max_length": 128}))
    assert longest_pair(tmp_path) == 128
    (tmp_path / "config.json").write_text("{")
    with pytest.raises(ModelError, match="JSON"):
        longest_pair(tmp_path)
    (tmp_path / "config.json").write_text("[]")
    with pytest.raises(ModelError, match="no object"):
        longest_pair(tmp_path)


def test_rows_before_the_first_position_are_no_room(tmp_path: Path) -> None:
    config = {"model_type": "roberta", "max_position_embeddings": 514, "pad_token_id": 1}
    (tmp_path / "config.json").write_text(json.dumps(config))
    assert longest_pair(tmp_path) == 512


def test_the_full_precision_graph_is_preferred(tmp_path: Path) -> None:
    assert graph_in(tmp_path) is None
    (tmp_path / "onnx").mkdir()
    (tmp_path / "onnx" / "model_quantized.onnx").touch()
    assert graph_in(tmp_path) == tmp_path / "onnx" / "model_quantized.onnx"
    (tmp_path / "model.onnx").touch()
    assert graph_in(tmp_path) == tmp_path / "model.onnx"
