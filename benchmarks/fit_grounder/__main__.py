"""Fit the network of the grounder `local`, and pack the word relations that it reads."""

import sys
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Annotated, cast

import anyio
import numpy as np
import typer
from benchmarks.fit_grounder.wordnet import packed, read_wordnet
from numpy.typing import NDArray

from refdesk.embedding import TokenEmbedder
from refdesk.embedding.names import embedder_for
from refdesk.errors import InputError, MissingExtra, ModelError, RefdeskError
from refdesk.grounding.local import TokenReader
from refdesk.plugins import load_late

app = typer.Typer(add_completion=False, help=__doc__)
tell = partial(print, flush=True)


@app.command()
def pack(
    wordnet: Annotated[Path, typer.Option(help="The folder `dict` of WordNet 3.1.")],
    out: Annotated[Path, typer.Option(help="File to write, .npz.")],
) -> None:
    """Pack WordNet's files into the arrays that come with refdesk."""
    arrays = packed(read_wordnet(wordnet))
    write(out, arrays)
    tell(f"{len(arrays['synset_at']) - 1} words, {len(arrays['above_at']) - 1} synsets")


@app.command()
def fit(
    nli: Annotated[
        Path, typer.Option(help="Pairs: .jsonl with premise, hypothesis, label; .tsv as of SNLI.")
    ],
    begin: Annotated[Path, typer.Option(help="BEGIN: .tsv with knowledge, response, begin_label.")],
    summedits: Annotated[Path, typer.Option(help="SummEdits: .json, one file for each domain.")],
    wordnet: Annotated[Path, typer.Option(help="The folder `dict` of WordNet 3.1, for edits.")],
    out: Annotated[Path, typer.Option(help="File to write, .npz.")],
    seed: Annotated[int, typer.Option(help="The same gives the same weights, on one thread.")] = 0,
    epochs: Annotated[int, typer.Option(min=1, help="Times that the pairs are gone through.")] = 4,
    tuning_epochs: Annotated[int, typer.Option(min=1, help="Times that SummEdits is gone through.")] = 5,
    leave_out: Annotated[
        list[str] | None, typer.Option(help="Part of the name of a file not to fit on.")
    ] = None,
    limit: Annotated[
        int, typer.Option(min=0, help="Examples of each file at most, to try it; 0 for all.")
    ] = 0,
    threads: Annotated[int, typer.Option(min=1, help="Threads of torch.")] = 1,
    embedder: Annotated[str, typer.Option(help="The embedder whose token vectors are read.")] = "minilm",
) -> None:
    """Fit the network. It takes about three quarters of an hour of one core, and 4 GB."""
    load_torch().set_num_threads(threads)
    make_room(out)
    fitting = load_late("benchmarks.fit_grounder.fitting")
    plan = fitting.Plan(
        nli=nli,
        begin=begin,
        summedits=summedits,
        wordnet=wordnet,
        seed=seed,
        epochs=epochs,
        tuning_epochs=tuning_epochs,
        left_out=tuple(leave_out or ()),
        limit=limit,
    )
    write(out, anyio.run(fitting.fit_head, plan, token_reader(embedder), tell))


def token_reader(name: str) -> TokenReader:
    """Return an embedder by its name. Errors: `ModelError` if it has no token vectors."""
    embedder = embedder_for(name)
    if not isinstance(embedder, TokenEmbedder):
        raise ModelError(f"The embedder {name!r} gives no vectors of tokens.", remedy="Use minilm.")
    return cast("TokenReader", embedder)


def make_room(path: Path) -> None:
    """Make the folder of a file. Errors: `InputError` now rather than after an hour."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.open("ab").close()
    except OSError as error:
        raise InputError(f"{str(path)!r} cannot be written: {error}.") from error


def write(path: Path, arrays: dict[str, NDArray[np.generic]]) -> None:
    """Write arrays into one compressed file."""
    make_room(path)
    with path.open("wb") as file:
        np.savez_compressed(file, **arrays)  # type: ignore[arg-type]
    tell(f"wrote {path}, {path.stat().st_size} bytes")


def load_torch() -> ModuleType:
    """Import torch, or say how to get it."""
    try:
        return load_late("torch")
    except ImportError as error:
        raise MissingExtra(
            f"The network is fitted with torch, which cannot be imported: {error}.",
            remedy="Run: pip install torch. refdesk itself does not need it.",
        ) from error


if __name__ == "__main__":
    try:
        app()
    except RefdeskError as error:
        sys.exit(f"{error.message}\n{error.remedy}")
