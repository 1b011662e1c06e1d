"""Exact matches of a CTranslate2 directory on held-out sentences, decoded greedily in float32 from its own weights."""
import json
import random
import re

import numpy as np
import torch

from grammar import LANGUAGES
from translation import ct2, vocabulary
from translation.model import TranslationModel
from translation.pairs import DIRECTIONS, held_out_sentences


def load(folder):
    """The TranslationModel of an exported directory, int8 rows turned back into floats."""
    values, aliases = ct2.read_model(f"{folder}/model.bin")
    dense = {}
    for name, value in values.items():
        scale = values.get(name + "_scale")
        dense[name] = value if scale is None else value.astype(np.float32) / scale[:, None]
    embedding = dense["decoder/embeddings/weight"]
    layers = len({name.split("/")[1] for name in dense if name.startswith("encoder/layer_") and name.count("/") > 2})
    inner = dense["encoder/layer_0/ffn/linear_0/weight"].shape[0]
    model = TranslationModel(*embedding.shape, heads=int(dense["encoder/num_heads"]), inner=inner, layers=layers)
    with torch.no_grad():
        for name, target in ct2.variables(model)[0].items():
            if np.ndim(target):
                _parameter(model, name).copy_(torch.from_numpy(np.array(dense[name])))
    return model.eval()


def _parameter(model, name):
    side, *rest = name.split("/")
    simple = {"decoder/embeddings/weight": "embedding", "decoder/projection/bias": "bias",
              "decoder/position_encodings/encodings": "positions"}
    if name in simple:
        return getattr(model, simple[name])
    field = {"gamma": "weight", "beta": "bias"}.get(rest[-1], rest[-1])
    if rest[0] == "layer_norm":
        return getattr(getattr(model, side + "_norm"), field)
    module = getattr(model, side)[int(rest[0].removeprefix("layer_"))]
    for part in rest[1:-1]:
        module = getattr(module, part)
    return getattr(module, field)


def translate(model, folder, language, texts, batch=50):
    """Greedy translations of texts into `language` with the tokenizer files of the directory."""
    with open(f"{folder}/shared_vocabulary.json", encoding="utf8") as file:
        token = json.load(file).index(vocabulary.target_token(language))
    rows = [[token, *ids, vocabulary.END] for ids in vocabulary.encode(f"{folder}/source.spm", texts)]
    out = []
    for i in range(0, len(rows), batch):
        out += model.greedy(rows[i:i + batch], vocabulary.START, vocabulary.END)
    return vocabulary.decode(f"{folder}/target.spm", out)


def normalise(text):
    return " ".join(re.sub(r"[^\w' -]", " ", text.lower()).split())


def exact_matches(model, folder, count, heard=False):
    """{(source, target): (exact, count, [(source text, reference, hypothesis)] of the wrong ones)}"""
    sentences, result = held_out_sentences(random.Random(991), count), {}
    for source, target in DIRECTIONS:
        texts = [s.text[source] for s in sentences]
        if heard:
            texts = [normalise(text) for text in texts]
        got = translate(model, folder, target, texts)
        wrong = [(t, s.text[target], g) for t, s, g in zip(texts, sentences, got)
                 if normalise(s.text[target]) != normalise(g)]
        result[source, target] = (count - len(wrong), count, wrong)
    return result


FOREIGN = {"en": ["The elephant is very big.", "Ignatius lives in Reykjavik.", "hello world", "The blockchain protocol.",
                  "Quantum chromodynamics explains confinement.", "xyzzy", "42", "I have 3 zebras."],
           "es": ["El elefante es muy grande.", "Hola mundo", "La mecánica cuántica es interesante.", "zzz"],
           "de": ["Der Elefant ist sehr groß.", "Hallo Welt", "Donaudampfschifffahrtsgesellschaft", "Ich habe 3 Zebras."],
           "fr": ["L'éléphant est très grand.", "Bonjour le monde", "La mécanique quantique est intéressante.", "kiwi"]}


def foreign(model, folder):
    """[(source, target, text, translation)] of sentences outside the grammar."""
    return [(source, target, text, got) for source, texts in FOREIGN.items() for target in LANGUAGES if target != source
            for text, got in zip(texts, translate(model, folder, target, texts))]
