#!/usr/bin/env python3
"""Trains the models that tell speakers apart, and exports them as ONNX.

    python3 models/train/train_speakers.py prepare --recordings FOLDER
    python3 models/train/train_speakers.py embedding
    python3 models/train/train_speakers.py embedding --network time-delay --name time-delay
    python3 models/train/train_speakers.py segmentation
    python3 models/train/train_speakers.py join embedding time-delay

FOLDER holds voices.tsv (file, language, speaker) and its files. `prepare` decodes them into models/train/data/speakers.
The others write models/train/run/NAME/: log.jsonl, checkpoint.pt, NAME.onnx, card.json. Started again they resume;
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


def configured(kind, args, **changes):
    given = {name: getattr(args, name) for name in ("minutes", "seconds", "windows", "rate") if getattr(args, name, None)}
    return dataclasses.replace(kind(), **given, **changes)


def embedding(args):
    from speakers.tasks import EmbeddingTask
    from speakers.trainer import Run

    config = configured(EmbeddingTask.Config, args, shape={"network": args.network})
    Run(EmbeddingTask(config, args.data), folder(args), args.workers).start()


def segmentation(args):
    from speakers.tasks import SegmentationTask
    from speakers.trainer import Run
    from training.records import Checkpoint

    state = Checkpoint(os.path.join(args.runs, args.start)).load()
    if state is None:
        raise SystemExit(f"--start {args.start}: no checkpoint of an embedding in {args.runs}; train that first")
    task = SegmentationTask(configured(SegmentationTask.Config, args), args.data, state["network"])
    Run(task, folder(args), args.workers).start()


def join(args):
    """Several embeddings as one file."""
    from speakers import onnx_file
    from speakers.corpus import RATE
    from speakers.embedding import SamplesToEmbedding, VoiceEmbedding
    from training.records import Checkpoint
    import torch

    networks = []
    for name in args.names:
        if (state := Checkpoint(os.path.join(args.runs, name)).load()) is None:
            raise SystemExit(f"{name}: no checkpoint of an embedding in {args.runs}; train that first")
        networks.append(VoiceEmbedding.of(state["network"]))
    os.makedirs(folder(args), exist_ok=True)
    facts = onnx_file.embedding_facts(sum(network.head.out_features for network in networks))
    onnx_file.export(SamplesToEmbedding(*networks), os.path.join(folder(args), "embedding.onnx"),
                     torch.zeros(1, 1, 3 * RATE), "embedding", facts, in_bytes=True)


def folder(args):
    return os.path.join(args.runs, args.name or args.command)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    first, second, third, fourth = (commands.add_parser(name) for name in ("prepare", "embedding", "segmentation", "join"))
    first.add_argument("--recordings", required=True, help="folder with voices.tsv and the files it names")
    for command in (first, second, third):
        command.add_argument("--data", default=os.path.join(HERE, "data", "speakers"), help="folder of the prepared corpus")
    for command in (second, third, fourth):
        command.add_argument("--runs", default=os.path.join(HERE, "run"), help="folder of the runs")
        command.add_argument("--name", help="folder of the run; the command's name if absent")
    fourth.add_argument("names", nargs="+", help="runs of embeddings, of which one file is made")
    for command in (second, third):
        command.add_argument("--minutes", type=float, help="processor minutes of the whole run")
        command.add_argument("--rate", type=float, help="highest learning rate")
        command.add_argument("--workers", type=int, default=2, help="processes of one thread")
    second.add_argument("--network", choices=("residual", "time-delay"), default="residual",
                        help="time-delay: the segmentation can start from its trunk")
    second.add_argument("--seconds", type=float, help="seconds of sound a micro-batch")
    third.add_argument("--windows", type=int, help="windows a micro-batch")
    third.add_argument("--start", default="time-delay", help="run of the time-delay embedding whose trunk it starts from")
    args = parser.parse_args()
    {"prepare": prepare, "embedding": embedding, "segmentation": segmentation, "join": join}[args.command](args)


if __name__ == "__main__":
    main()
