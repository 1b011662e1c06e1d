"""Speech of languages that the model does not know: random words of Debian's word lists, spoken by espeak-ng.

Packages: witalian, wpolish, wdutch, wportuguese, wswedish, wbulgarian (training), wdanish, wukrainian (evaluation).
The model is to leave it unwritten, as it does noise: without such windows it hears Spanish in Italian.
"""
from functools import lru_cache

from .open_text import word_list

_WORDS = {"it": "italian", "pl": "polish", "nl": "dutch", "pt": "portuguese", "sv": "swedish", "bg": "bulgarian",
          "da": "danish", "uk": "ukrainian"}
# The last two are never in training.
TRAINING, HELD_OUT = ("it", "pl", "nl", "pt", "sv", "bg"), ("da", "uk")


@lru_cache(maxsize=None)
def words(language):
    return word_list(_WORDS[language], r"[^\W\d_]")


def draw(language, rng):
    """Two to nine words, the shorter of two draws more often than not: a text has more short words than a list."""
    def word():
        pair = rng.choice(words(language)), rng.choice(words(language))
        return min(pair, key=len) if rng.random() < 0.7 else pair[0]

    return " ".join(word() for _ in range(rng.randint(2, 9))) + "."
