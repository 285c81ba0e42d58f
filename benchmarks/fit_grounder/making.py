"""Examples made from others: statements edited, and evidence with other texts around it."""

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from benchmarks.fit_grounder.edits import Editor, is_name
from benchmarks.fit_grounder.examples import Example, Label, named
from benchmarks.fit_grounder.wordnet import WordNet

from refdesk.citations.sentences import sentences
from refdesk.grounding.wording import words_of

LEAST_WORDS, LEAST_PROSE = 5, 60
"""Words of a sentence that is taken as a statement, and characters of a text that others are put beside."""
COMMON_WORD, COMMON_NAME = 12, 5
"""How often a word, or a name, is in the data, at least, to be put in place of another."""
OTHERS = (2, 3, 4, 6, 8, 10)
"""How many other texts are put beside one."""
REWORDED = 0.6


def editor_for(examples: Sequence[Example], net: WordNet, chance: random.Random) -> Editor:
    """Return an editor that uses the words and names of the examples."""
    words: Counter[str] = Counter()
    names: Counter[str] = Counter()
    for text in (text for one in examples for text in (*one.premises, one.statement)):
        found = words_of(text)
        words.update(word.low for word in found)
        names.update(word.written for word in found if is_name(text, word))
    known = {word for word, count in words.items() if count >= COMMON_WORD}
    return Editor(net, known, sorted(one for one, count in names.items() if count >= COMMON_NAME), chance)


def prose(examples: Sequence[Example], captions: Sequence[str]) -> list[str]:
    """Return the longer evidence texts, captions of pictures left out."""
    texts = {text for one in examples if not named(one.source, captions) for text in one.premises}
    return sorted(text for text in texts if len(text) >= LEAST_PROSE)


def edited(
    examples: Sequence[Example], texts: Sequence[str], editor: Editor, chance: random.Random, count: int
) -> list[Example]:
    """Edit up to `count` statements that are held, and as many sentences of the texts themselves."""
    held = [one for one in examples if one.label is Label.ENTAILED]
    made: list[Example] = []
    for one in chance.sample(held, min(count, len(held))):
        made += _edited(one, editor, chance)
    for text in chance.sample(texts, min(count, len(texts))):
        made += _copied(text, editor, chance)
    return made


def lengthened(
    examples: Sequence[Example], texts: Sequence[str], chance: random.Random, count: int
) -> list[Example]:
    """Put the evidence of up to `count` examples among other texts, in any order."""
    made = []
    for one in chance.sample(examples, min(count, len(examples))):
        others = chance.sample(texts, min(chance.choice(OTHERS), len(texts)))
        mixed = [*one.premises, *others]
        chance.shuffle(mixed)
        made.append(replace(one, source=f"long_{one.source}", premises=tuple(dict.fromkeys(mixed))))
    return made


def _edited(one: Example, editor: Editor, chance: random.Random) -> Iterator[Example]:
    if edit := editor.wrong(one.statement, one.premises[0]):
        yield Example("edited", one.premises, edit.text, Label.CONTRADICTED, edit.changed)
    if chance.random() < REWORDED and (said := editor.reworded(one.statement)):
        yield Example("reworded", one.premises, said, Label.ENTAILED, ())


def _copied(text: str, editor: Editor, chance: random.Random) -> Iterator[Example]:
    """Yield a sentence of a text, often reworded, as a statement that the text holds, and made wrong."""
    spans = sentences(text)
    sentence = chance.choice(spans).of(text) if spans else ""
    if len(sentence.split()) < LEAST_WORDS:
        return
    said = editor.reworded(sentence) if chance.random() < REWORDED else None
    yield Example("copied", (text,), said or sentence, Label.ENTAILED, ())
    if edit := editor.wrong(said or sentence, text):
        yield Example("edited_copy", (text,), edit.text, Label.CONTRADICTED, edit.changed)
