#!/usr/bin/env python3
"""Makes the sample clips of the README and the tests: held-out voices and sentences, one container or codec each.

    python3 models/train/make_samples.py

Writes test/fixtures/audio/samples/ with references.json. Needs ffmpeg beside the synthesisers.
"""
import json
import os
import random
import subprocess

import numpy as np

from grammar import draw, is_held_out
from speech import synthesis
from speech.voices import draw_held_out_voice

HERE = os.path.dirname(os.path.abspath(__file__))
TARGET = os.path.join(HERE, "..", "..", "test", "fixtures", "audio", "samples")
# file name, language, sentences, longest length in seconds, ffmpeg's output options
CLIPS = (
    ("en-wav16.wav", "en", 1, 4, ["-c:a", "pcm_s16le"]),
    ("en-vorbis.ogg", "en", 3, 12, ["-ar", "44100", "-c:a", "libvorbis", "-q:a", "3"]),
    ("es-opus.ogg", "es", 2, 8, ["-ar", "48000", "-c:a", "libopus", "-b:a", "32k"]),
    ("es-vbr.mp3", "es", 1, 5, ["-ar", "22050", "-c:a", "libmp3lame", "-q:a", "4"]),
    ("de-wav24-stereo.wav", "de", 1, 2.3, ["-ar", "44100", "-ac", "2", "-c:a", "pcm_s24le"]),
    ("de-flac.flac", "de", 2, 8, ["-c:a", "flac"]),
    ("fr-cbr-stereo.mp3", "fr", 2, 8, ["-ar", "44100", "-ac", "2", "-c:a", "libmp3lame", "-b:a", "64k"]),
    ("fr-float.wav", "fr", 1, 3, ["-ar", "16000", "-c:a", "pcm_f32le"]),
)


def speak_clip(rng, lang, count, longest):
    """(float samples, text): `count` held-out sentences by one held-out voice."""
    voice = draw_held_out_voice(lang, rng)
    silence = np.zeros(int(0.3 * synthesis.SAMPLE_RATE), np.int16)
    while True:
        texts, parts = [], [silence]
        while len(texts) < count:
            drawn = draw(rng)
            if is_held_out(drawn) and len(drawn.text[lang]) > 18:
                texts.append(drawn.text[lang])
                parts += [synthesis.speak(voice, drawn.text[lang]), silence]
        samples = np.concatenate(parts)
        if len(samples) <= longest * synthesis.SAMPLE_RATE:
            return samples, " ".join(texts), voice


def main():
    rng, references = random.Random(2026), []
    os.makedirs(TARGET, exist_ok=True)
    for name, lang, count, longest, options in CLIPS:
        samples, text, voice = speak_clip(rng, lang, count, longest)
        command = ["ffmpeg", "-y", "-loglevel", "error", "-f", "s16le", "-ar", "16000", "-ac", "1", "-i", "-", "-map_metadata", "-1"]
        subprocess.run(command + options + [os.path.join(TARGET, name)], input=samples.tobytes(), check=True)
        references.append({"file": name, "language": lang, "text": text, "sentences": count, "voice": voice.label,
                           "duration": round(len(samples) / synthesis.SAMPLE_RATE, 3)})
    with open(os.path.join(TARGET, "references.json"), "w", encoding="utf8") as file:
        json.dump(references, file, ensure_ascii=False, indent=1)
        file.write("\n")


if __name__ == "__main__":
    main()
