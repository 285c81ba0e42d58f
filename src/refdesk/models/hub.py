"""Model files from the model hub, by repository and revision."""

from pathlib import Path

import httpx

from refdesk.errors import ModelError
from refdesk.models.catalog import HubRepository, ModelFile

HUB = "https://huggingface.co"
TIMEOUT = httpx.Timeout(60.0, connect=5.0)


def hub_download(
    source: HubRepository,
    files: tuple[ModelFile, ...],
    destination: Path,
    *,
    transport: httpx.BaseTransport | None = None,
) -> None:
    """Download files at a fixed revision. Their hashes are the caller's to check."""
    with httpx.Client(timeout=TIMEOUT, follow_redirects=True, transport=transport) as client:
        for file in files:
            url = f"{HUB}/{source.repository}/resolve/{source.revision}/{file.name}"
            target = destination / file.name
            target.parent.mkdir(parents=True, exist_ok=True)
            _download(client, url, target, file.size)


def _download(client: httpx.Client, url: str, target: Path, size: int) -> None:
    try:
        with client.stream("GET", url) as response, target.open("wb") as file:
            response.raise_for_status()
            received = 0
            for block in response.iter_bytes():
                received += len(block)
                if received > size:
                    raise ModelError(f"{url} sends more than the pinned {size} bytes: refused.")
                file.write(block)
    except httpx.HTTPStatusError as error:
        raise ModelError(f"{url} answered {error.response.status_code}.") from error
    except httpx.HTTPError as error:
        raise ModelError(f"{url} could not be reached: {type(error).__name__}.") from error
