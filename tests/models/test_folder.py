import json
from pathlib import Path
from typing import Any

import pytest

from refdesk.errors import ModelError
from refdesk.models.folder import exportable, read_folder
from refdesk.testing.models import write_tiny_model


def changed(path: Path, **values: Any) -> None:
    content = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps(content | values), encoding="utf-8")


def test_a_folder_says_how_it_is_to_be_run(tmp_path: Path) -> None:
    folder = write_tiny_model(tmp_path / "tiny", pooling="cls", max_length=24)
    prompts = {"prompts": {"query": "query: ", "passage": "passage: "}}
    (folder / "config_sentence_transformers.json").write_text(json.dumps(prompts), encoding="utf-8")
    model = read_folder(folder)
    assert (model.name, model.pooling, model.max_length) == ("tiny", "cls", 24)
    assert (model.query_prefix, model.document_prefix) == ("query: ", "passage: ")
    assert (model.shape.layers, model.shape.heads, model.shape.first_position) == (2, 4, 0)


def test_the_length_is_never_more_than_there_are_positions(tmp_path: Path) -> None:
    bert = read_folder(write_tiny_model(tmp_path / "bert", max_length=5000))
    roberta = read_folder(write_tiny_model(tmp_path / "roberta", family="roberta", max_length=5000))
    assert (bert.max_length, roberta.max_length) == (64, 64)


def test_a_plain_encoder_is_pooled_by_mean(tmp_path: Path) -> None:
    folder = write_tiny_model(tmp_path / "tiny")
    (folder / "modules.json").unlink()
    (folder / "1_Pooling" / "config.json").unlink()
    assert read_folder(folder).pooling == "mean"


@pytest.mark.parametrize("missing", ["config.json", "model.safetensors", "tokenizer.json"])
def test_a_missing_file_is_named(tmp_path: Path, missing: str) -> None:
    folder = write_tiny_model(tmp_path / "tiny")
    (folder / missing).unlink()
    with pytest.raises(ModelError, match=f"has no {missing}"):
        read_folder(folder)


@pytest.mark.parametrize(
    ("key", "value"),
    [("model_type", "t5"), ("hidden_act", "swish"), ("position_embedding_type", "relative_key")],
)
def test_other_architectures_are_refused(tmp_path: Path, key: str, value: str) -> None:
    folder = write_tiny_model(tmp_path / "tiny")
    changed(folder / "config.json", **{key: value})
    with pytest.raises(ModelError, match=f"{key} '{value}'"):
        read_folder(folder)


def test_other_pooling_is_refused(tmp_path: Path) -> None:
    folder = write_tiny_model(tmp_path / "tiny", pooling="max")
    with pytest.raises(ModelError, match="pooling 'pooling_mode_max_tokens'"):
        read_folder(folder)


def test_other_modules_are_refused(tmp_path: Path) -> None:
    folder = write_tiny_model(tmp_path / "tiny")
    modules = [{"type": "sentence_transformers.models.Dense", "path": "2_Dense"}]
    (folder / "modules.json").write_text(json.dumps(modules), encoding="utf-8")
    assert not exportable(folder)
    with pytest.raises(ModelError, match="module 'Dense'"):
        read_folder(folder)


def test_broken_json_is_named(tmp_path: Path) -> None:
    folder = write_tiny_model(tmp_path / "tiny")
    (folder / "config.json").write_text("{", encoding="utf-8")
    with pytest.raises(ModelError, match=r"config\.json' cannot be read as JSON"):
        read_folder(folder)


def test_a_config_without_sizes_is_refused(tmp_path: Path) -> None:
    folder = write_tiny_model(tmp_path / "tiny")
    (folder / "config.json").write_text('{"model_type": "bert"}', encoding="utf-8")
    with pytest.raises(ModelError, match="lacks a usable 'hidden_size'"):
        read_folder(folder)
