"""Names of grounders to grounders."""

from difflib import get_close_matches
from pathlib import Path

from refdesk.embedding import Embedder, TokenEmbedder
from refdesk.errors import InputError
from refdesk.grounding import Grounder
from refdesk.grounding.judged import JudgedGrounder
from refdesk.grounding.lexical import LexicalGrounder
from refdesk.grounding.local import LocalGrounder
from refdesk.llm import LLM
from refdesk.plugins import load_late

LOCAL, LEXICAL, JUDGE, NLI = "local", "lexical", "judge", "nli"
KINDS = (LOCAL, LEXICAL, JUDGE, NLI)
MINILM = "all-MiniLM-L6-v2"
KNOWN = f"{LOCAL!r}, {LEXICAL!r}, {JUDGE!r}, '{NLI}:FOLDER'"


def grounder_for(
    name: str, *, embedder: Embedder | None = None, llm: LLM | None = None, cache: Path | None = None
) -> Grounder:
    """Return the grounder that a name means. Blocks while weights are loaded.

    `local` reads MiniLM's token vectors, and is `lexical` where the embedder is another one; `judge` asks the
    language model; `nli:FOLDER` is a classifier in a local folder.
    Errors: `InputError`, `ModelError`, `MissingExtra`.
    """
    if problem := problem_of(name):
        raise InputError(problem[0], remedy=problem[1])
    if name == LOCAL and isinstance(embedder, TokenEmbedder) and embedder.fingerprint.model == MINILM:
        return LocalGrounder(embedder)
    if name in (LOCAL, LEXICAL):
        return LexicalGrounder()
    if name == JUDGE:
        if llm is None:
            raise InputError(
                f"The grounder {JUDGE!r} needs a language model.", remedy="Give it one as `llm`."
            )
        return JudgedGrounder(llm)
    return _classifying(_folder(name), cache)


def problem_of(name: str) -> tuple[str, str] | None:
    """Return what is wrong with a name and what to do, None where nothing is; nothing is opened."""
    kind, colon, rest = name.partition(":")
    if kind in KINDS and (kind == NLI) == bool(rest) and bool(colon) == bool(rest):
        return None
    if kind in KINDS:
        wanted = f"{NLI}:FOLDER" if kind == NLI else kind
        return f"The grounder {name!r} cannot be used.", f"Write {wanted!r}."
    near = get_close_matches(kind.casefold(), KINDS, 1)
    hint = f"{NLI}:FOLDER" if near == [NLI] else near[0] if near else ""
    return f"There is no grounder {name!r}.", f"Did you mean {hint!r}?" if hint else f"Known are {KNOWN}."


def part_of(name: str) -> str:
    """Return under which name a grounder is kept once it is loaded, empty for one that loads nothing."""
    if name == LOCAL:
        return LOCAL
    return f"{NLI}:{_folder(name)}" if name.startswith(f"{NLI}:") and not problem_of(name) else ""


def _folder(name: str) -> Path:
    """Return the folder of a classifier's name, the same for every way of writing it."""
    return Path(name.partition(":")[2]).expanduser().resolve()


def _classifying(folder: Path, cache: Path | None) -> Grounder:
    classifier = load_late("refdesk.grounding.opening").open_classifier(
        folder, cache=cache
    )  # brings onnxruntime
    token = classifier.kind == "token"
    late = load_late("refdesk.grounding.tokenwise" if token else "refdesk.grounding.entailment")
    grounder: Grounder = late.TokenGrounder(classifier) if token else late.NliGrounder(classifier)
    return grounder
