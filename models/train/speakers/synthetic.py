"""Synthetic voices beside the recorded people: a small part, since a user tries the service with them as well."""
import os
import random

from grammar import draw
from speech import synthesis, voices

from .corpus import Writer

# Voices a language, and sentences each.
_VOICES = {"en": 110, "de": 28, "es": 28, "fr": 28}
_SENTENCES = 6
_SEED = 4100


def _sentence(lang, rng):
    return " ".join(draw(rng).text[lang] for _ in range(2))


def prepare(folder, name="synthetic"):
    """Says some sentences with each of the voices that training may hear."""
    if os.path.exists(os.path.join(folder, name + ".jsonl")):
        return
    rng, writer, known = random.Random(_SEED), Writer(folder, name), set()
    for lang, count in _VOICES.items():
        for _ in range(count):
            voice = voices.draw_training_voice(lang, rng)
            for _ in range(_SENTENCES):
                samples = synthesis.speak(voice, _sentence(lang, rng))
                if samples is not None:
                    writer.add(samples.astype("float32") / 32768, voice.label, lang)
    writer.close()
