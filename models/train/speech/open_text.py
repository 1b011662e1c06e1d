"""Free text for the open-vocabulary corpus: Debian's fortune files and word lists, cut into speakable sentences.

Packages: fortunes-min, fortunes, fortunes-es, fortunes-de (texts), wamerican, wspanish, wngerman, wfrench (words).
French has no fortune package in Debian: its sentences are the phrase grammar's and random words.
"""
import glob
import os
import re
import zlib
from functools import lru_cache

_FORTUNES = {"en": "/usr/share/games/fortunes/*", "es": "/usr/share/games/fortunes/es/*",
             "de": "/usr/share/games/fortunes/de/*", "fr": "/usr/share/games/fortunes/fr/*"}
_WORDS = {"en": "american-english", "es": "spanish", "de": "ngerman", "fr": "french"}
_LETTERS = "A-Za-zßàáâäçèéêíîñóôöùúûüœÀÁÂÄÇÈÉÊÍÎÑÓÔÖÙÚÛÜŒ"
_SPEAKABLE = re.compile(rf"^[¿¡]?[{_LETTERS}][{_LETTERS} ,;'-]+[.?!]$")
_LENGTHS = (3, 15)


def _read(path):
    """UTF-8, or Latin-1 where it is not."""
    with open(path, "rb") as file:
        blob = file.read()
    try:
        return blob.decode("utf8")
    except UnicodeDecodeError:
        return blob.decode("latin1")


@lru_cache(maxsize=None)
def sentences(language):
    """Sentences of the fortune files that have only words and plain punctuation."""
    found = set()
    for path in sorted(glob.glob(_FORTUNES[language])):
        if not os.path.isfile(path) or path.endswith((".dat", ".u8")):
            continue
        text = re.sub(r"\s+", " ", re.sub(r"\n%\n", ". ", _read(path)))
        for sentence in re.split(r"(?<=[.?!]) ", text):
            if _SPEAKABLE.match(sentence) and _LENGTHS[0] <= len(sentence.split()) <= _LENGTHS[1]:
                found.add(sentence[0].upper() + sentence[1:])
    return sorted(found)


def word_list(name, letter):
    """Words of 2 to 18 letters (a regular expression) of a Debian word list; SystemExit where it is not installed."""
    path = os.path.join("/usr/share/dict", name)
    if not os.path.exists(path):
        raise SystemExit(f"{path} is missing: install the word lists that models/train/README.md names")
    return [word for word in _read(path).split("\n") if re.fullmatch(f"{letter}{{2,18}}", word)]


@lru_cache(maxsize=None)
def words(language):
    return word_list(_WORDS[language], f"[{_LETTERS}]")


def is_held_out(text):
    return zlib.crc32(text.encode()) % 16 == 0


def draw(language, rng):
    """A text sentence, or random words where the language has few of them."""
    texts = sentences(language)
    while True:
        if texts and rng.random() < 0.6:
            text = rng.choice(texts)
        else:
            text = " ".join(rng.choice(words(language)) for _ in range(rng.randint(2, 8))) + "."
            text = text[0].upper() + text[1:]
        if not is_held_out(text):
            return text
