"""The shared SentencePiece vocabulary, through Debian's command-line tools (package sentencepiece)."""
import os
import subprocess

SPECIALS = ("<unk>", "<s>", "</s>")
UNKNOWN, START, END = range(3)


def target_token(lang):
    """First source token: which language to translate into, as OPUS-MT's multilingual models have it."""
    return f">>{lang}<<"


def train(lines, prefix, size, languages):
    """Writes PREFIX.model and PREFIX.vocab from the text lines. The tool runs in their folder, since the file keeps the
    names it was given."""
    folder, name = os.path.split(os.path.abspath(prefix))
    text = prefix + ".txt"
    with open(text, "w", encoding="utf8") as file:
        file.write("\n".join(lines))
    subprocess.run(["spm_train", f"--input={name}.txt", f"--model_prefix={name}", f"--vocab_size={size}",
                    "--model_type=unigram", "--character_coverage=1.0", "--hard_vocab_limit=false",
                    "--num_threads=1", "--unk_id=0", "--bos_id=1", "--eos_id=2", "--pad_id=-1",
                    "--user_defined_symbols=" + ",".join(map(target_token, languages)), "--minloglevel=2"], check=True,
                   cwd=folder)
    os.remove(text)


def pieces(prefix):
    """Piece strings in the order of their ids."""
    with open(prefix + ".vocab", encoding="utf8") as lines:
        return [line.rstrip("\n").split("\t")[0] for line in lines]


def _filter(command, lines):
    result = subprocess.run(command, input="\n".join(lines) + "\n", stdout=subprocess.PIPE, check=True, encoding="utf8")
    return result.stdout.rstrip("\n").split("\n") if lines else []


def encode(model, lines):
    """[[id]] of text lines (no line breaks inside); `model` is a SentencePiece file."""
    rows = _filter(["spm_encode", f"--model={model}", "--output_format=id"], lines)
    return [[int(i) for i in row.split()] for row in rows]


def decode(model, rows):
    """Text lines of [[id]]."""
    return _filter(["spm_decode", f"--model={model}", "--input_format=id"], [" ".join(map(str, r)) for r in rows])
