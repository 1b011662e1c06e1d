"""Writes and reads whisper.cpp's model files (ggml, float16 matrices)."""
import struct

import numpy as np
import torch

from . import features
from .model import AUDIO_CONTEXT, TEXT_CONTEXT
from .tokenizer import EOT, FIRST_TIMESTAMP, PIECES, TIMESTAMPS, VOCABULARY

_MAGIC = 0x67676D6C


def full_table(model):
    """[51865, width]: zero rows for the tokens that were never trained."""
    table = torch.zeros(VOCABULARY, model.width)
    table[torch.tensor(model.used)] = model.embedding.detach()
    table[FIRST_TIMESTAMP:] = model.timestamp(model.sinusoids[:TIMESTAMPS]).detach()
    return table


def _tensors(model):
    """(name, tensor, half precision) in the order of openai/whisper."""
    yield "encoder.positional_embedding", model.sinusoids[:AUDIO_CONTEXT], False
    for name in ("conv1", "conv2"):
        conv = getattr(model, name)
        yield f"encoder.{name}.weight", conv.weight, True
        yield f"encoder.{name}.bias", conv.bias[:, None], False
    yield "encoder.ln_post.weight", model.ln_post.weight, False
    yield "encoder.ln_post.bias", model.ln_post.bias, False
    for side, blocks in (("encoder", model.encoder), ("decoder", model.decoder)):
        for i, block in enumerate(blocks):
            for name, parameter in block.named_parameters():
                yield f"{side}.blocks.{i}.{name}", parameter, parameter.dim() > 1
    yield "decoder.positional_embedding", model.positions, False
    yield "decoder.token_embedding.weight", full_table(model), True
    yield "decoder.ln.weight", model.ln.weight, False
    yield "decoder.ln.bias", model.ln.bias, False


def export(model, path):
    """The model as a whisper.cpp file with float16 matrices; whisper.cpp's quantize tool makes it smaller."""
    shape = (VOCABULARY, AUDIO_CONTEXT, model.width, model.heads, len(model.encoder), TEXT_CONTEXT, model.width,
             model.heads, len(model.decoder), features.MELS, 1)
    with open(path, "wb") as file:
        file.write(struct.pack("<I11i", _MAGIC, *shape))
        file.write(struct.pack("<2i", *features.FILTERS.shape) + features.FILTERS.tobytes())
        file.write(struct.pack("<i", EOT))
        for piece in PIECES:
            file.write(struct.pack("<I", len(piece)) + piece)
        for name, tensor, half in _tensors(model):
            values = np.ascontiguousarray(tensor.detach().cpu().float().numpy().astype(np.float16 if half else np.float32))
            dims, label = values.shape[::-1], name.encode()
            file.write(struct.pack("<3i", len(dims), len(label), int(half)))
            file.write(struct.pack(f"<{len(dims)}i", *dims) + label + values.tobytes())


def read(path):
    """(hyperparameters, filters, pieces, {name: array}) of a file written by `export`."""
    with open(path, "rb") as file:
        blob = file.read()
    shape, place = struct.unpack_from("<11i", blob, 4), 48
    mels, bins = struct.unpack_from("<2i", blob, place)
    filters = np.frombuffer(blob, np.float32, mels * bins, place + 8).reshape(mels, bins)
    place += 8 + filters.nbytes
    count, = struct.unpack_from("<i", blob, place)
    place, pieces, tensors = place + 4, [], {}
    for _ in range(count):
        size, = struct.unpack_from("<I", blob, place)
        pieces.append(blob[place + 4:place + 4 + size])
        place += 4 + size
    while place < len(blob):
        rank, size, half = struct.unpack_from("<3i", blob, place)
        dims = struct.unpack_from(f"<{rank}i", blob, place + 12)
        place += 12 + 4 * rank
        name = blob[place:place + size].decode()
        values = np.frombuffer(blob, np.float16 if half else np.float32, int(np.prod(dims)), place + size)
        tensors[name] = values.reshape(dims[::-1])
        place += size + values.nbytes
    return shape, filters, pieces, tensors
