#!/usr/bin/env python3
"""Trains the speech model on what synthesize.py made, and exports it for whisper.cpp.

    python3 models/train/train_speech.py --minutes 125

Writes models/train/run/NAME/: log.jsonl, checkpoint.pt, model-f16.bin (whisper.cpp's format), card.json. Started
again it resumes; --minutes counts the wall clock of all starts together.
"""
import argparse
import dataclasses
import os

# One thread a process: see training/team.py.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("MKL_NUM_THREADS", "1")

from speech.config import CONFIGS  # noqa: E402
from speech.trainer import Run  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--config", choices=CONFIGS, default="small")
    parser.add_argument("--name", help="folder of the run; the configuration's name if absent")
    parser.add_argument("--minutes", type=float, help="wall clock of the whole run")
    parser.add_argument("--frames", type=int, help="mel frames a micro-batch; small ones try a configuration out")
    parser.add_argument("--workers", type=int, help="processes (2 on the CPU, 1 on a GPU)")
    parser.add_argument("--device", default="cpu", help="cpu or cuda")
    args = parser.parse_args()
    config = CONFIGS[args.config]
    changes = {name: getattr(args, name) for name in ("minutes", "frames") if getattr(args, name)}
    config = dataclasses.replace(config, **changes)
    folder = os.path.join(HERE, "run", args.name or args.config)
    workers = args.workers or (2 if args.device == "cpu" else 1)
    Run(config, os.path.join(HERE, "data"), folder, workers, args.device).start()


if __name__ == "__main__":
    main()
