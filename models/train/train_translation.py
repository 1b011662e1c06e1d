#!/usr/bin/env python3
"""Trains the translation model for all twelve directions and exports it in CTranslate2's format.

    python3 models/train/train_translation.py --minutes 25

Writes models/train/run/translation/: log.jsonl, checkpoint.pt, int8/ and float32/ (model directories), card.json.
Started again it resumes; --minutes counts the wall clock of all starts together.
"""
import argparse
import dataclasses
import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

from translation.trainer import TranslationConfig, TranslationRun  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=25)
    parser.add_argument("--name", default="translation")
    args = parser.parse_args()
    config = dataclasses.replace(TranslationConfig(), minutes=args.minutes)
    TranslationRun(config, os.path.join(HERE, "run", args.name)).train()


if __name__ == "__main__":
    main()
