#!/usr/bin/env python3
"""Trains the models that tell speakers apart, and exports them as ONNX.

    python3 models/train/train_speakers.py prepare --recordings FOLDER
    python3 models/train/train_speakers.py embedding
    python3 models/train/train_speakers.py segmentation

FOLDER holds voices.tsv (file, language, speaker) and its files. `prepare` decodes them into models/train/data/speakers.
The other two write models/train/run/NAME/: log.jsonl, checkpoint.pt, NAME.onnx, card.json. Started again they resume;
--minutes counts the processor time of all starts and workers together.
"""
import argparse
import dataclasses
import os

# One thread a process: see training/team.py.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("MKL_NUM_THREADS", "1")

HERE = os.path.dirname(os.path.abspath(__file__))


def prepare(args):
    import soundfile

    from speakers import codecs, corpus, synthetic

    def read(path):
        samples, rate = soundfile.read(path, dtype="float32")
        if rate != corpus.RATE or samples.ndim > 1:
            raise SystemExit(f"{path}: {rate} Hz, shape {samples.shape}; wanted mono at {corpus.RATE} Hz")
        return samples

    corpus.prepare(args.recordings, args.data, read)
    synthetic.prepare(args.data)
    codecs.prepare(args.data, "voices")


def configured(kind, args):
    changes = {name: getattr(args, name) for name in ("minutes", "seconds", "windows", "rate") if getattr(args, name, None)}
    return dataclasses.replace(kind(), **changes)


def embedding(args):
    from speakers.tasks import EmbeddingTask
    from speakers.trainer import Run

    Run(EmbeddingTask(configured(EmbeddingTask.Config, args), args.data), folder(args), args.workers).start()


def segmentation(args):
    from speakers.tasks import SegmentationTask
    from speakers.trainer import Run
    from training.records import Checkpoint

    state = Checkpoint(os.path.join(args.runs, args.start)).load()
    if state is None:
        raise SystemExit(f"--start {args.start}: no checkpoint of an embedding in {args.runs}; train that first")
    task = SegmentationTask(configured(SegmentationTask.Config, args), args.data, state["network"])
    Run(task, folder(args), args.workers).start()


def folder(args):
    return os.path.join(args.runs, args.name or args.command)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    first, second, third = (commands.add_parser(name) for name in ("prepare", "embedding", "segmentation"))
    first.add_argument("--recordings", required=True, help="folder with voices.tsv and the files it names")
    for command in (first, second, third):
        command.add_argument("--data", default=os.path.join(HERE, "data", "speakers"), help="folder of the prepared corpus")
    for command in (second, third):
        command.add_argument("--runs", default=os.path.join(HERE, "run"), help="folder of the runs")
        command.add_argument("--name", help="folder of the run; the command's name if absent")
        command.add_argument("--minutes", type=float, help="processor minutes of the whole run")
        command.add_argument("--rate", type=float, help="highest learning rate")
        command.add_argument("--workers", type=int, default=2, help="processes of one thread")
    second.add_argument("--seconds", type=float, help="seconds of sound a micro-batch")
    third.add_argument("--windows", type=int, help="windows a micro-batch")
    third.add_argument("--start", default="embedding", help="run of the embedding whose trunk it starts from")
    args = parser.parse_args()
    {"prepare": prepare, "embedding": embedding, "segmentation": segmentation}[args.command](args)


if __name__ == "__main__":
    main()
