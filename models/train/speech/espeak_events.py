"""What libespeak-ng says about its own speech: at which sample each word begins, and where a word's sound ends.

espeak-ng is GPL-3. It is a tool to measure with, loaded from the machine that measures; nothing of it is shipped.
"""
import ctypes
from dataclasses import dataclass

import numpy as np

_SYNCHRONOUS = 2
_PHONEME_EVENTS = 1
_UTF8 = 1
_RATE, _PITCH, _WORD_GAP = 1, 3, 7
_LIST_END, _WORD, _PHONEME = 0, 1, 7
_BUFFER_MS = 200
# Phonemes that are pauses are named with this first.
_PAUSE = "_"
# By these languages no voice is found once a variant follows ("en-gb+f4"), and the command line then leaves the variant
# out without a word; by these names of their files it is.
_FILES = {"en-gb": "en", "fr-fr": "fr"}


class _Id(ctypes.Union):
    _fields_ = [("number", ctypes.c_int), ("name", ctypes.c_char_p), ("string", ctypes.c_char * 8)]


class _Event(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int), ("unique_identifier", ctypes.c_uint), ("text_position", ctypes.c_int),
                ("length", ctypes.c_int), ("audio_position", ctypes.c_int), ("sample", ctypes.c_int),
                ("user_data", ctypes.c_void_p), ("id", _Id)]


_Callback = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_short), ctypes.c_int, ctypes.POINTER(_Event))


@dataclass(frozen=True)
class WordEvent:
    """`place`: index of the word's first character in the text; `start`, `end`: samples. Behind a pause the start is that of
    the first sound: the library's own event lies up to 0.1 s before it there, at the closure of a stop. The end is where
    the next word begins, or the pause before it, or the sound's end."""
    place: int
    start: int
    end: int


@dataclass(frozen=True)
class Speech:
    """`samples`: int16 at `rate` Hz; `words`: in order."""
    rate: int
    samples: np.ndarray
    words: tuple


class Espeak:
    """One voice. The library keeps its state for the whole process, in which something of an earlier voice would colour a
    later one: a process is to have one of these."""

    def __init__(self, voice, library="libespeak-ng.so.1"):
        """`voice`: a Voice whose engine is espeak-ng."""
        self._library = ctypes.CDLL(library)
        self._rate = self._library.espeak_Initialize(_SYNCHRONOUS, _BUFFER_MS, None, _PHONEME_EVENTS)
        if self._rate <= 0:
            raise RuntimeError("espeak_Initialize failed: is espeak-ng-data installed?")
        # The library keeps the pointer, so the callback must stay alive.
        self._callback = _Callback(self._take)
        self._library.espeak_SetSynthCallback(self._callback)
        accent, *variant = voice.name.split("+")
        if self._library.espeak_SetVoiceByName("+".join([_FILES.get(accent, accent), *variant]).encode()) != 0:
            raise ValueError(f"espeak-ng has no voice {voice.name}")
        for parameter, value in ((_RATE, int(voice.rate)), (_PITCH, voice.pitch), (_WORD_GAP, voice.gap)):
            self._library.espeak_SetParameter(parameter, value, 0)

    def speak(self, text):
        """Speech as the command line gives it, to the sample."""
        self._chunks, self._events = [], []
        encoded = text.encode() + b"\0"
        if self._library.espeak_Synth(encoded, len(encoded), 0, 1, 0, _UTF8, None, None) != 0:
            raise RuntimeError(f"espeak-ng did not say: {text}")
        samples = np.concatenate(self._chunks) if self._chunks else np.zeros(0, np.int16)
        return Speech(self._rate, samples, tuple(words_of(self._events, len(samples))))

    def _take(self, samples, count, events):
        if samples and count > 0:
            self._chunks.append(np.ctypeslib.as_array(samples, (count,)).copy())
        index = 0
        while events[index].type != _LIST_END:
            event = events[index]
            name = event.id.string.decode(errors="replace") if event.type == _PHONEME else ""
            self._events.append((event.type, event.text_position - 1, event.sample, name))
            index += 1
        return 0


def words_of(events, total):
    """WordEvents of [(type, place in the text, sample, name of a phoneme)], in order; `total`: samples of all."""
    words, silent = [], True
    for kind, place, sample, name in events:
        if kind == _WORD:
            if words and not silent:
                words[-1][2] = sample
            words.append([place, None if silent else sample, None])
        elif kind == _PHONEME and name.startswith(_PAUSE):
            if words and not silent:
                words[-1][2] = sample
            silent = True
        elif kind == _PHONEME:
            if words and words[-1][1] is None:
                words[-1][1] = sample
            silent = False
    if words and not silent:
        words[-1][2] = total
    return [WordEvent(place, start, end) for place, start, end in words if start is not None]
