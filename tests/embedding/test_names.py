import importlib.util
import json
from pathlib import Path

import pytest

from refdesk.embedding.names import Prefixes, embedder_for
from refdesk.embedding.onnx import OnnxEmbedder
from refdesk.errors import InputError, MissingExtra, ModelError, SettingsError
from refdesk.plugins import load_extra
from refdesk.testing.models import write_tiny_model


def test_a_folder_is_a_name(folder: Path, tmp_path: Path) -> None:
    embedder = embedder_for(str(folder), cache=tmp_path, precision="fp32")
    assert isinstance(embedder, OnnxEmbedder)
    assert (embedder.fingerprint.model, embedder.fingerprint.precision) == ("tiny", "fp32")


def test_prefixes_can_be_given(folder: Path, tmp_path: Path) -> None:
    embedder = embedder_for(str(folder), cache=tmp_path, prefixes=Prefixes(query="q: ", document=""))
    assert (embedder.fingerprint.query_prefix, embedder.fingerprint.document_prefix) == ("q: ", "")


@pytest.mark.parametrize("name", ["minilm", "multilingual-e5-small"])
def test_a_model_that_is_not_here_names_the_command(name: str, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"is not on this machine\. Run: refdesk models pull \S+\.$"):
        embedder_for(name, cache=tmp_path)


def test_an_unknown_name_lists_the_names(tmp_path: Path) -> None:
    with pytest.raises(SettingsError) as raised:
        embedder_for("all-minilm-l6", cache=tmp_path)
    message = str(raised.value)
    assert "Unknown model 'all-minilm-l6'" in message
    assert "Did you mean 'all-MiniLM-L6-v2'?" in message
    assert all(name in message for name in ("multilingual-e5-small", "openai:MODEL", "tei:URL"))


def test_an_unknown_precision_is_refused(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="Unknown precision 'int4'; allowed are fp32, int8"):
        embedder_for(str(folder), cache=tmp_path, precision="int4")


@pytest.mark.skipif(importlib.util.find_spec("sentence_transformers") is not None, reason="it is installed")
def test_another_architecture_names_the_extra(folder: Path, tmp_path: Path) -> None:
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    (folder / "config.json").write_text(json.dumps(config | {"model_type": "mpnet"}), encoding="utf-8")
    with pytest.raises(MissingExtra, match=r"pip install 'refdesk\[sentence-transformers\]'"):
        embedder_for(str(folder), cache=tmp_path)


def test_a_damaged_folder_is_named(tmp_path: Path) -> None:
    folder = write_tiny_model(tmp_path / "broken")
    (folder / "tokenizer.json").write_text("{}", encoding="utf-8")
    with pytest.raises(ModelError, match=r"tokenizer\.json' cannot be read"):
        embedder_for(str(folder), cache=tmp_path / "cache")


def test_an_extra_that_is_there_is_imported() -> None:
    assert load_extra("json", "none").dumps([]) == "[]"
