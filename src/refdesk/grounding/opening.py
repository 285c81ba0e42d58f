"""Folders to classifiers, by what their config.json says and by the shape of what the model gives."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer

from refdesk.embedding.tokenizer import load_tokenizer
from refdesk.errors import InputError, ModelError
from refdesk.grounding.classifiers import SHORT, Classifier, Kind, independent
from refdesk.grounding.labels import Labels, chosen_labels, label_names, read_labels
from refdesk.grounding.pairs import PairTokenizer
from refdesk.grounding.running import OnnxRunner, Runner, TorchRunner
from refdesk.models.cache import default_cache
from refdesk.models.folder import WEIGHTS, exportable, read_folder
from refdesk.models.graphs import graph_file
from refdesk.models.pairs import graph_in, longest_pair, read_object
from refdesk.plugins import load_extra

HHEM = "HHEMv2"
HHEM_TEMPLATE = (
    "<pad> Determine if the hypothesis is true given the premise?\n\nPremise: {text1}\n\nHypothesis: {text2}"
)
"""How HHEM-2.1 was trained to be asked; it answers at the first token, label 1 for a consistent statement."""
TOKEN_TEMPLATE = "Summarize the following text:\n{text1}\noutput:"
"""How LettuceDetect was trained to see evidence without a question."""
LOADERS: dict[Kind, str] = {
    "sequence": "AutoModelForSequenceClassification",
    "token": "AutoModelForTokenClassification",
}
ENDINGS: tuple[tuple[str, Kind], ...] = (
    ("ForSequenceClassification", "sequence"),
    ("ForTokenClassification", "token"),
)
EXTRA = "sentence-transformers"


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What a folder does not say of its model, or says wrongly; None for what it says."""

    kind: Kind | None = None
    entailment: int | None = None
    """The number of the label which means that the evidence holds the statement, or the token."""
    contradiction: int | None = None
    """The number of the label which means that the evidence denies it."""
    template: str | None = None
    """`{text1}` stands for the evidence, `{text2}` for the statement; with `{text1}` alone the model reads a
    pair. Empty for a plain pair."""
    max_length: int | None = None
    """Tokens of one input, special tokens included."""


FROM_FOLDER = Options()


def open_classifier(folder: Path, *, options: Options = FROM_FOLDER, cache: Path | None = None) -> Classifier:
    """Open a folder. Blocks while weights are loaded or exported; nothing is downloaded, no code of it run.

    Errors: `ModelError` for a folder that cannot be used, `InputError` for options, `MissingExtra`.
    """
    config = _config(folder)
    options = _completed(options, config, folder)
    tokenizer, runner = _loaded(folder, config, options, cache)
    limits = (options.max_length or longest_pair(folder), runner.longest)
    longest = min(one for one in limits if one)
    pairs = PairTokenizer(tokenizer, longest, options.template or "")
    kind, labels = _read(folder, config, options, pairs, runner)
    if kind == "token" and options.template is None:
        pairs = PairTokenizer(tokenizer, longest, TOKEN_TEMPLATE)
    if kind == "token" and pairs.single:
        raise InputError(
            f"The template of the token classifier {folder.name!r} has {{text2}}.",
            remedy="Leave it out: the statement is the second text of a pair.",
        )
    return Classifier(folder.name, kind, pairs, runner, labels, batched=independent(pairs, runner))


def _config(folder: Path) -> dict[str, Any]:
    if not folder.is_dir():
        raise ModelError(f"There is no classifier folder {str(folder)!r}.", remedy="Give a local folder.")
    if not (folder / "config.json").is_file():
        raise ModelError(
            f"The folder {str(folder)!r} has no config.json.",
            remedy="Put the config.json of the model beside its weights: it names the labels.",
        )
    return read_object(folder / "config.json")


def _completed(options: Options, config: Mapping[str, Any], folder: Path) -> Options:
    """Fill in what is known of a model by its name, and its kind where its architecture tells it."""
    if _is_hhem(config):
        template = str(config.get("prompt") or HHEM_TEMPLATE)
        return Options(
            kind="sequence",
            entailment=1 if options.entailment is None else options.entailment,
            template=template if options.template is None else options.template,
            max_length=options.max_length,
        )
    named = [str(name) for name in config.get("architectures") or ()]
    told = [kind for ending, kind in ENDINGS for name in named if name.endswith(ending)]
    if named and not told and options.kind is None:
        raise ModelError(
            f"The model in {str(folder)!r} is a {named[0]}, which is no classifier of pairs or tokens.",
            remedy="Use a model for text classification (NLI) or token classification, or, where this is one,"
            " open it with Options(kind='sequence' or 'token').",
        )
    return replace(options, kind=options.kind or (told[0] if told else None))


def _is_hhem(config: Mapping[str, Any]) -> bool:
    return str(config.get("model_type", "")).startswith(HHEM)


def _loaded(
    folder: Path, config: Mapping[str, Any], options: Options, cache: Path | None
) -> tuple[Tokenizer, Runner]:
    types = config.get("type_vocab_size") not in (0, 1)
    padding = config.get("pad_token_id")
    padding = padding if isinstance(padding, int) and padding >= 0 else 0
    graph = graph_in(folder)
    if graph is None and exportable(folder) and options.kind != "token":
        model = read_folder(folder)
        graph = graph_file(model, cache=cache or default_cache(), precision="fp32", head="logits")
    if graph is not None:
        runner = OnnxRunner(graph, padding=padding, types=types)
        return load_tokenizer(_tokenizer_file(folder)), runner
    _require_safetensors(folder, config)
    return _on_torch(folder, options.kind or "sequence", padding, types and "type_vocab_size" in config)


def _tokenizer_file(folder: Path) -> Path:
    file = folder / "tokenizer.json"
    if not file.is_file():
        raise ModelError(
            f"The folder {str(folder)!r} has no tokenizer.json.",
            remedy="Put there that of the model, or of the one it was made of (HHEM: google/flan-t5-base).",
        )
    return file


def _require_safetensors(folder: Path, config: Mapping[str, Any]) -> None:
    own = config.get("auto_map") or _is_hhem(config)
    if own or not any(folder.glob("*.safetensors")):
        why = "runs code of its own, which is refused" if own else f"has neither model.onnx nor {WEIGHTS}"
        raise ModelError(
            f"The model in {str(folder)!r} {why}.",
            remedy="Export it to ONNX once, and put the graph beside its config.json as model.onnx.",
        )


def _on_torch(folder: Path, kind: Kind, padding: int, types: bool) -> tuple[Tokenizer, Runner]:
    transformers, torch = load_extra("transformers", EXTRA), load_extra("torch", EXTRA)
    local = {"local_files_only": True, "trust_remote_code": False}
    try:
        loader = getattr(transformers, LOADERS[kind])
        model = loader.from_pretrained(str(folder), use_safetensors=True, **local)
        file = folder / "tokenizer.json"
        made = None if file.is_file() else transformers.AutoTokenizer.from_pretrained(str(folder), **local)
        tokenizer = load_tokenizer(file) if made is None else made.backend_tokenizer
    except ModelError:
        raise
    except Exception as error:  # torch and transformers share no class of errors
        raise ModelError(f"The package transformers cannot load {str(folder)!r}: {error}.") from error
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer, TorchRunner(model, torch, padding=padding, types=types)


def _read(
    folder: Path, config: Mapping[str, Any], options: Options, pairs: PairTokenizer, runner: Runner
) -> tuple[Kind, Labels]:
    """Tell kind and labels, from what the model gives for a pair. Errors: `ModelError`, `InputError`."""
    pair = next(pairs.fitted(*SHORT))
    given = runner.run([pair])
    kind: Kind = options.kind or ("token" if given.ndim == 3 else "sequence")
    per_token = given.ndim == 3 and given.shape[1] >= len(pair.ids)
    if not (per_token or (given.ndim == 2 and kind == "sequence")):
        raise ModelError(
            f"The model in {str(folder)!r} gives numbers of shape {given.shape} for one input of"
            f" {len(pair.ids)} tokens, which no {kind} classifier does.",
            remedy="Export it with its classification head, or give Options(kind='sequence' or 'token').",
        )
    count = given.shape[-1]
    if options.entailment is not None:
        return kind, chosen_labels(count, options.entailment, options.contradiction)
    return kind, read_labels(label_names(config, str(folder)), count, str(folder), token=kind == "token")
