"""What the tiny classifiers of these tests read."""

from collections.abc import Callable

from refdesk.grounding.classifiers import Classifier

EVIDENCE = ("Thirty days of leave are granted. It must be asked for.", "The hotel costs 90 euros a night.")
FRAMES = "determine if is true given premise summarize following text output passage ? . : 1 2 [ ] , !"
WORDS = tuple(f"{' '.join(EVIDENCE)} Whales sing {FRAMES}".replace(".", " . ").split())
OpenTiny = Callable[..., Classifier]
