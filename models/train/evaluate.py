#!/usr/bin/env python3
"""Prints the tables of the model cards.

    python3 models/train/evaluate.py speech --whisper-cli build/bin/whisper-cli --model FILE
    python3 models/train/evaluate.py speech --server http://127.0.0.1:8080 --key vb_...
    python3 models/train/evaluate.py translation --model DIRECTORY

Speech clips are made from the development sets of synthesize.py; --clips FOLDER takes WAV files and refs.json
(file, kind, language, text) from elsewhere. Results also go to models/train/run/eval-NAME.json and, with --run RUN,
into the card of models/train/run/RUN.
"""
import argparse
import json
import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

from evaluation import clips as evaluation_clips  # noqa: E402
from evaluation import recognisers, score, translations  # noqa: E402
from training.records import add_results, card_path  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))


def speech(args):
    folder = args.clips or os.path.join(HERE, "run", "clips")
    clips = [c for c in evaluation_clips.make(os.path.join(HERE, "data"), folder)
             if not args.kinds or c.kind in args.kinds.split(",")]
    if args.server:
        recogniser = recognisers.Service(args.server, args.key)
    else:
        recogniser = recognisers.WhisperCli(args.whisper_cli, args.model, args.threads, args.whole)
    answers = recogniser.transcribe([os.path.join(folder, c.file) for c in clips])
    table, silence, wrong = score.Table(), {}, []
    for clip in clips:
        text, language = answers[os.path.join(folder, clip.file)]
        if clip.kind in evaluation_clips.TEXTLESS:
            count = silence.setdefault(clip.kind, {"clips": 0, "empty": 0, "words": 0})
            made_up = len(score.words(text))
            count["clips"], count["empty"], count["words"] = (
                count["clips"] + 1, count["empty"] + (made_up == 0), count["words"] + made_up)
            if made_up:
                wrong.append((clip.file, "", text))
        elif table.add(clip.kind, clip.language, clip.text, text, language):
            wrong.append((clip.file, clip.text, text))
    print(table)
    for kind, count in silence.items():
        print(f"{kind} clips left empty: {count['empty']}/{count['clips']}, words made up: {count['words']}")
    for row in wrong[:args.show]:
        print("  " + " | ".join(row))
    return {"table": table.rows(), "silence": silence, "wrong": wrong}


def translation(args):
    model = translations.load(args.model)
    result = {}
    for heard in (False, True):
        print("as heard (lower case, no punctuation)" if heard else "held-out sentences, exact after normalisation")
        for (source, target), (exact, count, wrong) in translations.exact_matches(model, args.model, args.count, heard).items():
            print(f"  {source}-{target} {100 * exact / count:6.2f} %")
            result[f"{source}-{target}{' heard' if heard else ''}"] = 100 * exact / count
            for row in wrong[:args.show]:
                print("     " + " | ".join(row))
    if not args.show:
        return result
    for row in translations.foreign(model, args.model):
        print("  " + " | ".join(row))
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    one = commands.add_parser("speech")
    one.add_argument("--model", help="ggml file")
    one.add_argument("--whisper-cli", default="whisper-cli")
    one.add_argument("--whole", action="store_true", help="no cuts, 30 s encoder: plain whisper-cli")
    one.add_argument("--threads", type=int, default=2)
    one.add_argument("--server")
    one.add_argument("--key")
    one.add_argument("--clips")
    one.add_argument("--kinds", help="only these sets, comma-separated")
    two = commands.add_parser("translation")
    two.add_argument("--model", required=True)
    two.add_argument("--count", type=int, default=200)
    for command in (one, two):
        command.add_argument("--show", type=int, default=5, help="errors to print")
        command.add_argument("--name", help="name of the results; the command's if absent")
        command.add_argument("--run", help="folder of the run whose card gets the results")
    args = parser.parse_args()
    run = args.run and os.path.join(HERE, "run", args.run)
    if run and not os.path.isfile(card_path(run)):
        parser.error(f"--run {args.run}: {card_path(run)} does not exist; a finished training run leaves it")
    result = {"speech": speech, "translation": translation}[args.command](args)
    os.makedirs(os.path.join(HERE, "run"), exist_ok=True)
    name = args.name or args.command
    path = os.path.join(HERE, "run", f"eval-{name}.json")
    with open(path, "w", encoding="utf8") as file:
        json.dump(result, file, ensure_ascii=False, indent=1)
    if run:
        add_results(run, name, {k: v for k, v in result.items() if k != "wrong"})


if __name__ == "__main__":
    main()
