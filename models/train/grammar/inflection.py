"""Articles, cases and agreement: the forms a noun takes in a template slot.

Forms: def (nominative, definite), acc, dat, a (indefinite object), to, of, at, my, myacc, this, n (bare).
"""

_VOWELS = "aeiouhéèêàâôœAEIOUHÉ"
_ENGLISH = {"def": "the ", "acc": "the ", "dat": "the ", "to": "to the ", "of": "of the ", "at": "at the ",
            "my": "my ", "myacc": "my ", "this": "this ", "n": ""}
_GERMAN = {
    "def": {"m": "der ", "f": "die ", "n": "das "}, "acc": {"m": "den ", "f": "die ", "n": "das "},
    "dat": {"m": "dem ", "f": "der ", "n": "dem "}, "a": {"m": "einen ", "f": "eine ", "n": "ein "},
    "to": {"m": "zum ", "f": "zur ", "n": "zum "}, "of": {"m": "vom ", "f": "von der ", "n": "vom "},
    "at": {"m": "am ", "f": "an der ", "n": "am "}, "my": {"m": "mein ", "f": "meine ", "n": "mein "},
    "myacc": {"m": "meinen ", "f": "meine ", "n": "mein "}, "this": {"m": "dieser ", "f": "diese ", "n": "dieses "},
}


def _english(noun, form):
    word = noun.word["en"]
    if form == "a":
        return ("an " if word[0] in "aeio" or word.startswith("um") else "a ") + word
    return _ENGLISH[form] + word


def _spanish(noun, form):
    word, masculine = noun.word["es"], noun.gender["es"] == "m"
    article = "el" if masculine else "la"
    prefix = {"def": article + " ", "acc": article + " ", "dat": article + " ", "at": f"en {article} ",
              "to": "al " if masculine else "a la ", "of": "del " if masculine else "de la ",
              "a": "un " if masculine else "una ", "my": "mi ", "myacc": "mi ",
              "this": "este " if masculine else "esta ", "n": ""}
    return prefix[form] + word


def _german(noun, form):
    return ("" if form == "n" else _GERMAN[form][noun.gender["de"]]) + noun.word["de"]


def _french(noun, form):
    word, masculine = noun.word["fr"], noun.gender["fr"] == "m"
    elided = word[0] in _VOWELS
    article = "l'" if elided else "le " if masculine else "la "
    at = "à l'" if elided else "au " if masculine else "à la "
    prefix = {"def": article, "acc": article, "dat": article, "to": at, "at": at,
              "of": "de l'" if elided else "du " if masculine else "de la ", "a": "un " if masculine else "une ",
              "my": "mon " if elided or masculine else "ma ", "myacc": "mon " if elided or masculine else "ma ",
              "this": "cet " if elided and masculine else "ce " if masculine else "cette ", "n": ""}
    return prefix[form] + word


_INFLECT = {"en": _english, "es": _spanish, "de": _german, "fr": _french}


def inflect(noun, lang, form):
    return _INFLECT[lang](noun, form)


def agree(adjective, lang, noun):
    """The adjective of a lexicon row agreeing with the noun (predicate position)."""
    word = adjective[lang]
    if lang == "es" and word.endswith("o") and noun.gender["es"] == "f":
        return word[:-1] + "a"
    if lang == "fr":
        return word.split(",")[noun.gender["fr"] == "f"]
    return word
