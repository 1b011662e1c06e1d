"""Sentence pairs in all twelve directions: the phrase grammar, and what keeps the model sane outside of it.

Besides plain sentences: several of them joined, sentences as a recogniser writes them (lower case, no punctuation,
slips), single words, and sentences in which a name, a city or a noun is an invented word or a number in digits that
has to come out unchanged.
"""
import re
from dataclasses import dataclass

from grammar import LANGUAGES, draw, is_held_out
from grammar.inflection import inflect
from grammar.lexicon import Noun
from grammar.numbers import CARDINAL
from grammar.sentences import LEXICON

DIRECTIONS = tuple((a, b) for a in LANGUAGES for b in LANGUAGES if a != b)
_ONSETS = "b c d f g h j k l m n p r s t v w z br cl dr fr gr kr pl pr sch st str tr th qu ch sh".split()
_VOWELS = "a e i o u a e i o ai au ei ou ie ä ö ü é á í ó".split()
_CODAS = ["", "", "", "n", "r", "s", "l", "t", "m", "k", "ck", "nd", "rt", "x", "ng"]


@dataclass(frozen=True)
class Pair:
    source_language: str
    target_language: str
    source: str
    target: str


def invented_word(rng, capital):
    word = "".join(rng.choice(_ONSETS) + rng.choice(_VOWELS) + rng.choice(_CODAS) for _ in range(rng.randint(1, 3)))
    return word.capitalize() if capital else word


def training_sentence(rng):
    while True:
        drawn = draw(rng)
        if not is_held_out(drawn):
            return drawn


def held_out_sentences(rng, count):
    """Distinct sentences of the part of the grammar that is never trained on."""
    found = {}
    while len(found) < count:
        drawn = draw(rng)
        if is_held_out(drawn):
            found.setdefault(drawn.text["en"], drawn)
    return list(found.values())


def _replaced(text, old, new):
    return re.sub(rf"(?<!\w){re.escape(old)}(?!\w)", lambda _: new, text)


def _with_foreign_words(rng):
    """A sentence with its names, cities or counts replaced by invented words or digits, the same in each language."""
    for _ in range(50):
        texts = dict(training_sentence(rng).text)
        changed = False
        for kind in ("name", "city"):
            for entry in LEXICON[kind]:
                if all(re.search(rf"(?<!\w){re.escape(entry[l])}(?!\w)", texts[l]) for l in LANGUAGES):
                    word = invented_word(rng, True)
                    if rng.random() < 0.25:
                        word += " " + invented_word(rng, True)
                    # French elides "de" before a vowel of the city that is replaced.
                    texts["fr"] = texts["fr"].replace("d'" + entry["fr"], "de " + entry["fr"])
                    texts = {l: _replaced(texts[l], entry[l], word) for l in LANGUAGES}
                    changed = True
        number = rng.randint(2, 99)
        spelled = {l: CARDINAL[l](number) for l in LANGUAGES}
        if all(re.search(rf"(?<![\w-]){spelled[l]}(?![\w-])", texts[l]) for l in LANGUAGES):
            digits = str(rng.randint(2, 2000))
            texts = {l: re.sub(rf"(?<![\w-]){spelled[l]}(?![\w-])", digits, texts[l]) for l in LANGUAGES}
            changed = True
        if changed:
            return texts
    return dict(training_sentence(rng).text)


def _with_foreign_noun(rng):
    """A sentence about a thing that the lexicon lacks: its word is copied, with masculine articles."""
    word = invented_word(rng, False)
    noun = Noun(word={l: word.capitalize() if l == "de" else word for l in LANGUAGES},
                gender={"es": "m", "de": "m", "fr": "m"})
    sections = [s for s in LEXICON if isinstance(LEXICON[s][0], Noun)]
    section = rng.choice(sections)
    kept = LEXICON[section]
    LEXICON[section] = [noun, noun]
    try:
        for _ in range(400):
            drawn = draw(rng)
            if word in drawn.text["en"].lower():
                return dict(drawn.text)
    finally:
        LEXICON[section] = kept
    return dict(training_sentence(rng).text)


def _dictionary_entry(rng):
    """One entry of the lexicon on its own, or a number."""
    if rng.random() < 0.25:
        number = rng.randint(0, 999)
        return {l: CARDINAL[l](number) for l in LANGUAGES}
    section = rng.choice([s for s in LEXICON if s not in ("fixed", "adjective", "body")])
    entry = rng.choice(LEXICON[section])
    if isinstance(entry, Noun):
        form = rng.choice(("n", "def", "a"))
        return {l: inflect(entry, l, form) for l in LANGUAGES}
    return dict(entry)


def _foreign_text(rng):
    """Words nobody knows, alone: copied."""
    words = [invented_word(rng, rng.random() < 0.3) for _ in range(rng.randint(1, 4))]
    return dict.fromkeys(LANGUAGES, " ".join(words) + rng.choice(["", ".", "?"]))


def _joined(rng):
    parts = [training_sentence(rng).text for _ in range(rng.randint(2, 3))]
    return {l: " ".join(part[l] for part in parts) for l in LANGUAGES}


def _as_heard(text, rng):
    """Source text as a recogniser may write it."""
    draw_ = rng.random()
    if draw_ < 0.5:
        text = re.sub(r"[.,:?¿]", "", text)
    if draw_ < 0.8:
        text = text.lower()
    if draw_ > 0.7 and len(text) > 8:
        place = rng.randrange(1, len(text) - 1)
        text = text[:place] + text[place + 1:] if rng.random() < 0.5 else text[:place] + text[place - 1] + text[place + 1:]
    return text


_MAKERS = ((lambda rng: dict(training_sentence(rng).text), 0.60), (_joined, 0.12), (_with_foreign_words, 0.12),
           (_with_foreign_noun, 0.05), (_dictionary_entry, 0.08), (_foreign_text, 0.03))


def training_pair(rng):
    """A random Pair of a random direction."""
    makers, weights = zip(*_MAKERS)
    texts = rng.choices(makers, weights)[0](rng)
    source, target = rng.choice(DIRECTIONS)
    text = texts[source]
    if rng.random() < 0.28:
        text = _as_heard(text, rng)
    return Pair(source, target, text, texts[target])


__all__ = ["DIRECTIONS", "Pair", "held_out_sentences", "training_pair"]
