#!/usr/bin/env python3
"""Prints the tables of the speaker models' cards from recordings that no training saw.

    python3 models/train/evaluate_speakers.py embedding --recordings FOLDER
    python3 models/train/evaluate_speakers.py segmentation --recordings FOLDER

For the embedding FOLDER holds refs.json (file, speaker, kind "utterance" or "long", source) and its files, for the
segmentation index.json (file, rttm, kind). The results join the card of the run.
"""
import argparse
import json
import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import soundfile  # noqa: E402
import torch  # noqa: E402

from evaluation import turns, voices  # noqa: E402
from speakers.embedding import VoiceEmbedding  # noqa: E402
from speakers.segmentation import Segmentation  # noqa: E402
from training.records import Checkpoint, add_results, card_path  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
# The set that the goal is about; the other voices are told beside it.
GOAL = "LibriSpeech test-other"


def read(path):
    return soundfile.read(path, dtype="float32")[0]


def trained(folder):
    state = Checkpoint(folder).load()
    if state is None:
        raise SystemExit(f"{folder}: no checkpoint; train_speakers.py leaves it")
    return state["network"]


class Joined(torch.nn.Module):
    """What `train_speakers.py join` makes one file of, but for the roundings of its weights."""

    def __init__(self, networks):
        super().__init__()
        self.networks = torch.nn.ModuleList(networks)

    def forward(self, mel):
        return torch.cat([torch.nn.functional.normalize(network(mel)) for network in self.networks], 1)


def embedding(args, folder):
    others = [os.path.join(args.runs, name) for name in args.join]
    network = Joined([VoiceEmbedding.of(trained(each)) for each in (folder, *others)])
    goal = voices.Trials(network, voices.listed(args.recordings, lambda e: GOAL in e["source"]), read)
    threshold, (low, high) = goal.threshold(), goal.interval()
    print(f"{GOAL}: {len(goal.names)} people, {goal.cuts} cuts: equal error rate {goal.error():.2f} % "
          f"({low:.1f} to {high:.1f}), at a cosine of {threshold:.3f}")
    named = voices.listed(args.recordings, lambda e: not e["speaker"].startswith("cv-"))
    everybody = voices.Trials(network, named, read)
    print(f"with the other named readers: {len(everybody.names)} people, {everybody.cuts} cuts: {everybody.error():.2f} %")
    people = everybody.by_person(threshold)
    for name, (refused, accepted) in people.items():
        own = "one cut" if refused is None else f"{refused:5.1f} % of own pairs refused"
        print(f"  {name:28s} {own}, {accepted:5.1f} % of pairs with others accepted")
    return dict(eer=goal.error(), interval=[low, high], threshold=threshold, everybody=everybody.error(), people=people)


def segmentation(args, folder):
    network = Segmentation()
    network.load_state_dict(trained(folder))
    network.eval()
    with open(os.path.join(args.recordings, "index.json"), encoding="utf8") as file:
        entries = json.load(file)
    rows, kinds = {}, {}
    for entry in entries:
        path = os.path.join(args.recordings, entry["rttm"])
        each = turns.tally(network, read(os.path.join(args.recordings, entry["file"])), turns.read_rttm(path))
        rows[entry["file"]] = each.row()
        kinds.setdefault(entry["kind"], []).append(each)
    rows.update({f"all: {kind}": turns.together(tallies).row() for kind, tallies in kinds.items()})
    print("within windows of 10 s, per cent: error (missed, false, confused) | one speaker for all speech | "
          "speech found, true | overlap found, true")
    for name, row in rows.items():
        print(f"  {name:36s} {row['der']:5.1f} {row['parts']} | {row['one_speaker']:5.1f} | {row['speech']} | "
              f"{row['overlap']}")
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", choices=("embedding", "segmentation"))
    parser.add_argument("--recordings", required=True)
    parser.add_argument("--runs", default=os.path.join(HERE, "run"), help="folder of the runs")
    parser.add_argument("--join", nargs="*", default=[], help="further embeddings' runs: the mean of their cosines")
    parser.add_argument("--name", help="folder of the run; the model's name if absent")
    args = parser.parse_args()
    torch.set_num_threads(1)
    folder = os.path.join(args.runs, args.name or args.model)
    result = {"embedding": embedding, "segmentation": segmentation}[args.model](args, folder)
    if os.path.isfile(card_path(folder)):
        add_results(folder, "people", result)


if __name__ == "__main__":
    main()
