#!/usr/bin/env python3
"""Makes the speech corpora: training, and two development sets (seen voices, held-out voices; unseen sentences).

    python3 models/train/synthesize.py --workers 2 --shards 45
    python3 models/train/synthesize.py --corpus open --workers 16 --shards 600

A shard has 1,000 utterances (about 40 minutes) and its own seed; shards that exist are left alone, so the command
resumes where it stopped and may run beside the trainer.
"""
import argparse
import multiprocessing
import os
import random
import time
from dataclasses import dataclass

# The workers are processes; idle BLAS threads beside them cost a fifth of the time.
os.environ.setdefault("OMP_NUM_THREADS", "1")

from grammar import draw, is_held_out  # noqa: E402
from speech import foreign, open_text, synthesis  # noqa: E402
from speech.store import ShardWriter  # noqa: E402
from speech.voices import draw_held_out_voice, draw_training_voice  # noqa: E402

DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "data")
SHARD_SIZE = 1000
DEV_SIZE = 400
MAX_SAMPLES = 9 * synthesis.SAMPLE_RATE
# Of the training corpora: speech of other languages, which the model learns to leave unwritten.
FOREIGN_SHARDS = 3
FOREIGN = foreign.TRAINING + foreign.HELD_OUT
_WEIGHTS = (("en", 0.40), ("es", 0.20), ("de", 0.20), ("fr", 0.20))
_SEEDS = {"train": 1000, "open": 100000, "foreign": 600000, "dev-seen": 700000, "dev-held": 800000,
          "dev-foreign": 900000}
_LANGUAGES = {"foreign": [(lang, 1) for lang in foreign.TRAINING], "dev-foreign": [(lang, 1) for lang in FOREIGN]}
# Share of the phrase grammar in the open-vocabulary corpus.
_GRAMMAR_SHARE = 0.3


@dataclass(frozen=True)
class Shard:
    """`count` utterances of a `split`, as data/FOLDER/NAME."""
    split: str
    number: int
    count: int
    folder: str

    @property
    def name(self):
        return f"{'foreign' if self.split == 'foreign' else 'shard'}-{self.number:04d}"


def sentence(split, lang, rng):
    """The text to say: of the phrase grammar, of the open vocabulary, or words of another language."""
    if lang in FOREIGN:
        return foreign.draw(lang, rng)
    if split == "open" and rng.random() > _GRAMMAR_SHARE:
        return open_text.draw(lang, rng)
    while True:
        drawn = draw(rng)
        if is_held_out(drawn) == split.startswith("dev"):
            return drawn.text[lang]


def jobs(split, count, rng):
    """[(language, text, Voice)]"""
    languages, weights = zip(*_LANGUAGES.get(split, _WEIGHTS))
    voice = draw_held_out_voice if split in ("dev-held", "dev-foreign") else draw_training_voice
    result = []
    for i in range(count):
        lang = languages[i % len(languages)] if split.startswith("dev") else rng.choices(languages, weights)[0]
        result.append((lang, sentence(split, lang, rng), voice(lang, rng)))
    return result


def make_shard(shard):
    folder = os.path.join(DATA, shard.folder)
    if os.path.exists(os.path.join(folder, shard.name + ".jsonl")):
        return
    started, rng = time.time(), random.Random(_SEEDS[shard.split] + shard.number)
    todo = jobs(shard.split, shard.count, rng)
    festival = [(i, job) for i, job in enumerate(todo) if job[2].engine == "festival"]
    spoken = dict(zip((i for i, _ in festival), synthesis.festival_batch([(job[2], job[1]) for _, job in festival])))
    writer = ShardWriter(folder, shard.name)
    for i, (lang, text, voice) in enumerate(todo):
        if i in spoken:
            samples = None if spoken[i] is None else synthesis.finish(spoken[i])
        else:
            samples = synthesis.speak(voice, text)
        if samples is not None and len(samples) < MAX_SAMPLES:
            pauses = synthesis.find_pauses(samples, text.count(",") + text.count(":"))
            writer.add(samples, lang, text, voice.label, pauses)
    seconds = writer.close()
    print(f"{shard.folder}/{shard.name}: {seconds / 60:.1f} min of speech in {time.time() - started:.0f} s", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", choices=("train", "open"), default="train", help="phrase grammar, or free text too")
    parser.add_argument("--shards", type=int, default=45, help="training shards of 1,000 utterances")
    parser.add_argument("--workers", type=int, default=2)
    args = parser.parse_args()
    shards = [Shard(args.corpus, n, SHARD_SIZE, args.corpus) for n in range(args.shards)]
    shards[4:4] = [Shard("foreign", n, SHARD_SIZE, args.corpus) for n in range(FOREIGN_SHARDS)]
    shards[4:4] = [Shard(split, 0, DEV_SIZE, split) for split in ("dev-held", "dev-seen", "dev-foreign")]
    with multiprocessing.Pool(args.workers) as pool:
        for _ in pool.imap_unordered(make_shard, shards):
            pass


if __name__ == "__main__":
    main()
