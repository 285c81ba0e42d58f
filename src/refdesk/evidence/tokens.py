"""Tokens of a text, where no tokenizer is at hand."""


def estimate_tokens(text: str) -> int:
    """Estimate the tokens of a text, rather too high than too low."""
    if text.isascii():
        return int(len(text) / 3.5) + 1
    wide = sum(ord(character) > 0x2E7F for character in text)
    other = sum(0x7F < ord(character) <= 0x2E7F for character in text)
    plain = len(text) - wide - other
    return int(plain / 3.5 + other / 1.8 + wide * 1.3) + 1


LEAST = 300
"""Tokens of evidence that a model is always shown, however small its window or long what stands beside it."""
