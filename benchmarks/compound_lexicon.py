"""Make the lists of stems by which `refdesk.analysis.compounds` cuts compounds.

    python benchmarks/compound_lexicon.py SNOWBALL_DATA

SNOWBALL_DATA is a checkout of https://github.com/snowballstem/snowball-data (BSD-3-Clause).
Compounds of known stems are left out of the lists, so that they are cut when they are met.
"""

import argparse
from pathlib import Path

from refdesk.analysis.compounds import SHORTEST_PART, cut
from refdesk.analysis.stemming import stem

LEXICON = Path(__file__).parents[1] / "src/refdesk/analysis/lexicon"
SHORTEST_STEM = 3
LONGEST_STEM = 14
SHORTEST_COMPOUND = 8

VOCABULARIES = {"de": "german", "nl": "dutch", "sv": "swedish", "da": "danish", "no": "norwegian"}

ENDINGS = {
    "de": "schaft heit keit lich isch ling chen lein ende enen erin innen igen iger iges rung zung tung lung "
    "erst amen lose sten eien",
    "nl": "heid heden lijk ling ingen ende schap baar zaam isch",
    "sv": "ning ningen ligt ling lig heten ande ende aste",
    "da": "ning ligt ling hed heden ende else sker",
    "no": "ning ningen ligt ling het heten ende else ring",
}
"""What looks like a word and is how other words end."""

HEADER = """\
# Stems of {language} words, made by benchmarks/compound_lexicon.py from a vocabulary of the
# Snowball project, https://github.com/snowballstem/snowball-data.
# Copyright (c) 2001, Dr Martin Porter; Copyright (c) 2004,2005, Richard Boulton. BSD-3-Clause.
"""


def stems(words: list[str], language: str) -> frozenset[str]:
    endings = set(ENDINGS[language].split())
    endings |= {stem(ending, "latin", language) for ending in endings}
    found = {stem(word, "latin", language) for word in words if word.isalpha() and len(word) >= SHORTEST_PART}
    return frozenset(root for root in found - endings if SHORTEST_STEM <= len(root) <= LONGEST_STEM)


def without_compounds(known: frozenset[str], language: str) -> list[str]:
    long = {root for root in known if len(root) >= SHORTEST_COMPOUND}
    cuts = {root for root in long if cut(root, language, known - {root})}
    return sorted(known - cuts)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("snowball_data", type=Path)
    folder = parser.parse_args().snowball_data
    LEXICON.mkdir(exist_ok=True)
    for language, name in VOCABULARIES.items():
        words = (folder / name / "voc.txt").read_text("utf-8").split()
        kept = without_compounds(stems(words, language), language)
        lines = HEADER.format(language=name.capitalize()) + "".join(f"{root}\n" for root in kept)
        (LEXICON / f"{language}.txt").write_text(lines, "utf-8")
        print(f"{name}: {len(words)} words, {len(kept)} stems")


if __name__ == "__main__":
    main()
