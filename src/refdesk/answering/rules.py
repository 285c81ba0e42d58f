"""Rules of the house, as a model is told them."""


def house_rules(instructions: str = "", *, language: str = "", plain_language: bool = False) -> str:
    """Return rules in lines: the house's own, the language, the style."""
    parts = (
        instructions.strip(),
        LANGUAGE.format(language) if language else "",
        PLAIN if plain_language else "",
    )
    return "\n".join(part for part in parts if part)


LANGUAGE = "Answer in {}, whatever the language of the question."
PLAIN = "Write in plain language: short sentences, common words, one thought in each; explain rare terms."
