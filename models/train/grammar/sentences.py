"""Draws random aligned sentences from the templates and says which of them are kept out of training."""
import re
import zlib
from dataclasses import dataclass

from .inflection import agree, inflect
from .lexicon import LANGUAGES, load_lexicon, load_templates
from .numbers import CARDINAL, day_of_month, time_of_day

LEXICON = load_lexicon()
TEMPLATES = load_templates()
FIXED = LEXICON["fixed"]

# Fixed phrases weigh as much as this many templates.
_FIXED_WEIGHT = 6
# Bare numbers and fixed phrases are few: each of them is in training.
_OPEN = {i for i, t in enumerate(TEMPLATES) if t["en"] in ("{upto20}.", "{upto999}.")}
_PAIRED = ("place", "dish", "city", "name", "language", "drink", "count")
_SINGLE = ("object", "vehicle", "event", "document", "color", "day", "when", "person", "activity", "duration",
           "weather", "body", "ordinal")
_LONG_MONTHS = 31
_SHORT_MONTHS = 28
# Adjectives that describe a passing state; "is very ..." and "is too ..." take the others.
_STATES = ("closed", "open", "full", "empty")
_NOT_GRADED = _STATES + ("ready", "perfect")


@dataclass(frozen=True)
class Sentence:
    """One meaning in four languages; `template` is the template's index, -1 for a fixed phrase."""
    template: int
    text: dict

    @property
    def open(self):
        return self.template < 0 or self.template in _OPEN


def is_held_out(sentence):
    """One sixteenth of the sentences, chosen by a checksum of the English text, is never trained on."""
    return not sentence.open and zlib.crc32(sentence.text["en"].encode()) % 16 == 0


def _choices(rng):
    """The content of every slot: Noun, {lang: text} or int."""
    slots = {name: rng.choice(LEXICON[name]) for name in _SINGLE}
    for name in _PAIRED:
        slots[name], slots[name + "2"] = rng.sample(LEXICON[name], 2)
    slots["adjective"] = rng.choice([a for a in LEXICON["adjective"] if a["en"] not in _NOT_GRADED])
    slots["state"] = rng.choice([a for a in LEXICON["adjective"] if a["en"] in _STATES])
    slots["time"] = time_of_day(rng)
    slots["month"] = rng.choice(LEXICON["month"])
    short = slots["month"]["en"] in ("February", "April", "June", "September", "November")
    slots["date"] = rng.randint(1, _SHORT_MONTHS if short else _LONG_MONTHS)
    slots["upto20"], slots["upto99"] = rng.randint(0, 20), rng.randint(0, 99)
    slots["upto99b"], slots["upto999"] = rng.randint(0, 99), rng.randint(0, 999)
    slots["sum"] = slots["upto99"] + slots["upto99b"]
    # Before a noun no number may end in one: it would have to agree with it.
    slots["many"] = rng.choice([n for n in range(2, 100) if n % 10 != 1 or n == 11])
    slots["few"] = rng.randint(2, 10)
    slots["amount"] = rng.choice([rng.randint(2, 99), rng.randint(100, 999)])
    if slots["amount"] % 10 == 1 and slots["amount"] % 100 != 11:
        slots["amount"] += 1
    slots["digits"] = [rng.randint(0, 9) for _ in range(6)]
    return slots


def _fill(slot, lang, slots):
    name, _, form = slot.partition(".")
    if name.startswith("digits"):
        return " ".join(CARDINAL[lang](d) for d in slots["digits"][:int(name[6:])])
    if name in ("adjective", "state"):
        return agree(slots[name], lang, slots[form])
    if name == "time":
        return slots["time"][form][lang]
    if name == "date":
        return day_of_month(lang, slots["date"], slots["month"][lang], on=form == "on")
    if name == "colored_object":
        return _colored(lang, slots["object"], slots["color"])
    value = slots[name]
    if isinstance(value, int):
        return CARDINAL[lang](value)
    return value[lang] if isinstance(value, dict) else inflect(value, lang, form)


def _colored(lang, noun, color):
    if lang == "de":
        article, _, bare = inflect(noun, lang, "def").partition(" ")
        return f"{article} {color[lang]} {bare}"
    return inflect(noun, lang, "def") + " " + agree(color, lang, noun)


def _polish(text, lang):
    """Contractions and euphony that cross the borders of slots."""
    if lang == "fr":
        text = re.sub(r"\bde (?!onze)([AEIOUÉaeiou])", r"d'\1", text).replace("S'le ", "Si le ")
    if lang == "de":
        text = re.sub(r"(seit \w+) (Tage|Monate)\b", r"\1 \2n", text)
    if lang == "es":
        text = re.sub(r" y (i)", r" e \1", text)
        text = re.sub(r"\ba el (?=[a-zá-ú])", "al ", text) if "a la una el" not in text else text
        if text[0] == "¿":
            return "¿" + text[1].upper() + text[2:]
    return text[0].upper() + text[1:]


def draw(rng):
    """A random Sentence; `rng` is a random.Random."""
    index = rng.randrange(len(TEMPLATES) + _FIXED_WEIGHT)
    if index >= len(TEMPLATES):
        return Sentence(-1, rng.choice(FIXED))
    slots = _choices(rng)
    text = {lang: _polish(re.sub(r"\{([^}]+)\}", lambda m: _fill(m.group(1), lang, slots), TEMPLATES[index][lang]), lang)
            for lang in LANGUAGES}
    return Sentence(index, text)


def sample_words(rng, count=60000):
    """The words and bare numbers that the grammar produces, each with its leading space: the tokenizer's domain."""
    texts = {" " + draw(rng).text[lang] for _ in range(count // len(LANGUAGES)) for lang in LANGUAGES}
    for number in range(1000):
        for lang in LANGUAGES:
            spelled = CARDINAL[lang](number)
            texts.update((" " + spelled, " " + spelled[0].upper() + spelled[1:]))
    return texts
