"""Whisper's multilingual byte-pair tokenizer, read from openai/whisper's multilingual.tiktoken (MIT licence)."""
import base64
import os
import re
from functools import lru_cache

_ASSET = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "assets", "multilingual.tiktoken")

# Ids of whisper.cpp for a multilingual model of 51865 tokens.
VOCABULARY = 51865
EOT, SOT = 50257, 50258
TRANSLATE, TRANSCRIBE = 50358, 50359
PREVIOUS, NO_SPEECH, NO_TIMESTAMPS, FIRST_TIMESTAMP = 50361, 50362, 50363, 50364
TIMESTAMPS = VOCABULARY - FIRST_TIMESTAMP
LANGUAGE = {"en": 50259, "de": 50261, "es": 50262, "fr": 50265}


def _load():
    pieces = [b""] * EOT
    with open(_ASSET, "rb") as lines:
        for line in lines:
            piece, _, rank = line.strip().partition(b" ")
            if piece:
                pieces[int(rank)] = base64.b64decode(piece)
    return pieces


# Bytes of each ordinary token, in the order of their ids.
PIECES = _load()
_RANK = {piece: i for i, piece in enumerate(PIECES)}
# Python's re lacks \p{L}; [^\W\d_] is the same for the letters of these languages.
_SPLIT = re.compile(r"'s|'t|'re|'ve|'m|'ll|'d| ?[^\W\d_]+| ?\d+| ?[^\s\w]+|\s+(?!\S)|\s+")

# A line break: what a window without speech says when it must say something. whisper.cpp suppresses the
# end-of-text and the no-speech token in the first position; a line break trims away.
LINE_BREAK = _RANK[b"\n"]


@lru_cache(maxsize=200000)
def _merge(word):
    parts = [bytes([b]) for b in word.encode()]
    while len(parts) > 1:
        ranks = [_RANK.get(a + b, VOCABULARY) for a, b in zip(parts, parts[1:])]
        best = min(ranks)
        if best == VOCABULARY:
            break
        i = ranks.index(best)
        parts[i:i + 2] = [parts[i] + parts[i + 1]]
    return tuple(_RANK[part] for part in parts)


def encode(text):
    """Token ids of a text; a sentence starts with a space."""
    return [token for word in _SPLIT.findall(text) for token in _merge(word)]


def decode(ids):
    """Text of ids, special tokens left out."""
    return b"".join(PIECES[i] for i in ids if i < EOT).decode("utf8", "replace")


def domain_tokens(texts):
    """Sorted ids that these texts can need, the special ones included, timestamps excluded: rows that get trained."""
    words = {word for text in texts for word in _SPLIT.findall(text)}
    ids = {token for word in words for token in _merge(word)}
    ids.update((0, LINE_BREAK, EOT, SOT, TRANSLATE, TRANSCRIBE, PREVIOUS, NO_SPEECH, NO_TIMESTAMPS, *LANGUAGE.values()))
    return sorted(ids)
