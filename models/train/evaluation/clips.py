"""The evaluation clips: held-out sentences by seen and held-out voices, alone, stitched and long; sounds
that are not speech; speech of languages that the model does not know."""
import json
import os
import random
import wave
from dataclasses import asdict, dataclass

import numpy as np

from speech import nonspeech
from speech.augment import NoiseBank
from speech.store import Store

RATE = 16000
_SINGLE, _STITCHED, _LONG, _NONSPEECH, _FOREIGN = 40, 6, 2, 50, 48
# Kinds of clips whose text is to be empty.
TEXTLESS = ("nonspeech", "foreign")


@dataclass(frozen=True)
class Clip:
    file: str
    kind: str
    language: str
    text: str


def write_wav(path, samples):
    with wave.open(path, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE)
        file.writeframes((np.clip(samples, -1, 1) * 32767).astype(np.int16).tobytes())


def read_wav(path):
    """float32 samples of a 16 kHz mono PCM-16 WAV."""
    with wave.open(path) as file:
        return np.frombuffer(file.readframes(file.getnframes()), np.int16).astype(np.float32) / 32768


def _stitch(store, pool, rng, noise, count=None, seconds=None):
    """(samples, text): sentences with pauses of 0.2 to 0.7 s, each by its own voice, over faint noise."""
    level, parts, texts = rng.choice([0, 1e-4, 1e-3]), [np.zeros(int(RATE * rng.uniform(0.1, 0.6)))], []
    while True:
        utterance = rng.choice(pool)
        speech = store.samples(utterance) * rng.uniform(0.3, 0.9) / 0.61
        if seconds and sum(map(len, parts)) + len(speech) > seconds * RATE:
            break
        parts += [speech, np.zeros(int(RATE * rng.uniform(0.2, 0.7)))]
        texts.append(utterance.text)
        if count and len(texts) >= count:
            break
    samples = np.concatenate(parts)
    return samples + noise.standard_normal(len(samples)) * level, " ".join(texts)


def make(data, folder):
    """Writes the clips and refs.json once; returns [Clip]."""
    index = os.path.join(folder, "refs.json")
    if not os.path.exists(index):
        os.makedirs(folder, exist_ok=True)
        rng, noise, clips = random.Random(77), np.random.default_rng(3), []

        def add(kind, language, i, samples, text):
            name = f"{kind}-{language}-{i:02d}.wav"
            write_wav(os.path.join(folder, name), samples)
            clips.append(Clip(name, kind, language, text))

        for split in ("seen", "held"):
            store = Store(os.path.join(data, f"dev-{split}"))
            for language in ("en", "es", "de", "fr"):
                pool = [u for u in store.utterances if u.language == language]
                for i, utterance in enumerate(pool[:_SINGLE]):
                    add(split + "-one", language, i, *_stitch(store, [utterance], rng, noise, count=1))
                for i in range(_STITCHED):
                    add(split + "-stitched", language, i, *_stitch(store, pool, rng, noise, seconds=rng.uniform(12, 28)))
                for i in range(_LONG):
                    add(split + "-long", language, i, *_stitch(store, pool, rng, noise, seconds=rng.uniform(65, 90)))
        bank = NoiseBank(noise)
        for i in range(_NONSPEECH):
            add("nonspeech", "none", i, nonspeech.draw(int(RATE * rng.uniform(1, 12)), rng, noise, bank), "")
        store = Store(os.path.join(data, "dev-foreign"))
        for i, utterance in enumerate(store.utterances[:_FOREIGN]):
            samples, _ = _stitch(store, [utterance], rng, noise, count=1)
            add("foreign", utterance.language, i, samples, "")
        with open(index, "w", encoding="utf8") as file:
            json.dump([asdict(clip) for clip in clips], file, ensure_ascii=False, indent=1)
    with open(index, encoding="utf8") as file:
        return [Clip(**row) for row in json.load(file)]
