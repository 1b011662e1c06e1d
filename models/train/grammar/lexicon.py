"""Reads lexicon.txt and templates.txt, the data of the grammar."""
import os
from dataclasses import dataclass

LANGUAGES = ("en", "es", "de", "fr")
_HERE = os.path.dirname(os.path.abspath(__file__))


@dataclass(frozen=True)
class Noun:
    """A noun in four languages; `gender` is m, f or n per language (English has none)."""
    word: dict
    gender: dict


def _rows(name):
    with open(os.path.join(_HERE, name), encoding="utf8") as lines:
        for line in lines:
            line = line.strip()
            if line and not line.startswith("#"):
                yield line


def _noun(columns):
    pairs = [column.rsplit(" ", 1) for column in columns[1:]]
    return Noun(word={"en": columns[0], **{l: p[0] for l, p in zip(LANGUAGES[1:], pairs)}},
                gender={l: p[1] for l, p in zip(LANGUAGES[1:], pairs)})


def load_lexicon():
    """{section: [Noun or {lang: word}]}"""
    sections, entries, nouns = {}, None, False
    for line in _rows("lexicon.txt"):
        if line.startswith("["):
            name, _, kind = line[1:].partition("]")
            nouns, entries = "nouns" in kind, sections.setdefault(name, [])
            continue
        columns = [column.strip() for column in line.split("|")]
        if len(columns) != len(LANGUAGES):
            raise ValueError(f"lexicon.txt: four columns expected: {line}")
        entries.append(_noun(columns) if nouns else dict(zip(LANGUAGES, columns)))
    return sections


def load_templates():
    """[{lang: template}]"""
    templates = []
    for line in _rows("templates.txt"):
        columns = [column.strip() for column in line.split("|")]
        if len(columns) != len(LANGUAGES):
            raise ValueError(f"templates.txt: four columns expected: {line}")
        templates.append(dict(zip(LANGUAGES, columns)))
    return templates
