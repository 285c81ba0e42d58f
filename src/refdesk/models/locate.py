"""Find models that are on this disk, list the catalogue, check what is kept. Nothing here downloads."""

from collections.abc import Iterator
from pathlib import Path

from refdesk.errors import ModelError
from refdesk.models import FileCheck, ModelStatus, State, Verification
from refdesk.models.cache import default_cache, intact, read_stamp, sha256_of
from refdesk.models.catalog import CATALOG, KnownModel, find, known, unknown_model


def locate(name_or_path: str | Path, *, cache: Path | None = None) -> Path:
    """Return the folder of a model: a local folder, else the cache."""
    local = Path(name_or_path).expanduser()
    if is_model_folder(local):
        return local
    model = known(str(name_or_path))
    if model is None:
        raise unknown_model(str(name_or_path))
    place = folder_of(model, cache or default_cache())
    if not intact(place):
        fault = "is not on this machine" if not place.exists() else f"is damaged in {str(place)!r}"
        raise ModelError(f"The model {model.name} {fault}.", remedy=f"Run: refdesk models pull {model.name}.")
    return place


def is_model_folder(path: Path) -> bool:
    """Tell whether a path is a folder that holds a model."""
    return (path / "config.json").is_file()


def list_models(*, cache: Path | None = None) -> tuple[ModelStatus, ...]:
    """List the catalogue and what of it is on this disk."""
    return tuple(_status(model, folder_of(model, cache or default_cache())) for model in CATALOG)


def verify(name: str, *, cache: Path | None = None) -> Verification:
    """Hash every file of a cached model again and compare with the catalogue."""
    model = find(name)
    place = folder_of(model, cache or default_cache())
    if not place.exists():
        locate(model.name, cache=cache)
    return Verification(name=model.name, path=place, files=tuple(check_files(model, place)))


def folder_of(model: KnownModel, cache: Path) -> Path:
    """Return where the cache keeps a model."""
    return cache / model.name / model.revision


def check_files(model: KnownModel, folder: Path) -> Iterator[FileCheck]:
    """Compare each file of a folder with its pinned hash."""
    for file in model.files:
        path = folder / file.name
        found = sha256_of(path) if path.is_file() else ""
        problem = "missing" if not found else "" if found == file.sha256 else f"pinned is {file.sha256}"
        yield FileCheck(file.name, found, problem)


def pinned(model: KnownModel, folder: Path) -> bool:
    """Tell whether a folder's stamp has exactly the catalogue's hashes."""
    stamp = read_stamp(folder)
    return all(stamp.get(file.name) == (file.size, file.sha256) for file in model.files)


def _status(model: KnownModel, place: Path) -> ModelStatus:
    state: State = "absent" if not place.exists() else "ready" if intact(place) else "damaged"
    return ModelStatus(
        name=model.name,
        aliases=model.aliases,
        summary=model.summary,
        licence=model.licence,
        megabytes=model.megabytes,
        state=state,
        path=place,
    )
