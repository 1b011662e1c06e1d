"""Writes model directories that CTranslate2 reads: binary version 6, spec TransformerSpec revision 7.

Layout of model.bin (little endian): u32 version, name, u32 revision, u32 count, then a variable each: name, u8 rank,
u32 dims, u8 type, u32 bytes, data; then u32 count of aliases: alias, target. A name is u16 length + bytes + NUL.
int8 matrices carry `NAME_scale` [rows] with scale = 127 / largest magnitude of the row, stored = rint(value * scale).
"""
import json
import os
import shutil
import struct

import numpy as np

from . import vocabulary

_TYPES = {np.dtype("float32"): 0, np.dtype("int8"): 1, np.dtype("int16"): 2}
_VERSION, _SPEC, _REVISION = 6, "TransformerSpec", 7
_RELU = 0


def _name(text):
    data = text.encode() + b"\0"
    return struct.pack("<H", len(data)) + data


def quantise_rows(matrix):
    """(int8 matrix, float32 scale of each row)"""
    largest = np.abs(matrix).max(1)
    scale = np.where(largest == 0, 1.0, 127.0 / np.where(largest == 0, 1.0, largest)).astype(np.float32)
    return np.rint(matrix * scale[:, None]).astype(np.int8), scale


def _scalars(model):
    """Attributes of both sides."""
    common = {"num_heads": np.int16(model.heads), "pre_norm": np.int8(1), "activation": np.int8(_RELU),
              "scale_embeddings": np.float32(model.width ** 0.5)}
    values = {f"{side}/{key}": value for side in ("encoder", "decoder") for key, value in common.items()}
    values.update({"encoder/embeddings_merge": np.int8(0), "encoder/multi_query_attention": np.int8(0),
                   "decoder/start_from_zero_embedding": np.int8(0), "decoder/alignment_layer": np.int16(-1),
                   "decoder/alignment_heads": np.int16(1), "decoder/alibi": np.int8(0),
                   "decoder/alibi_use_positive_positions": np.int8(0), "decoder/scale_alibi": np.int8(0)})
    return values


def _array(tensor):
    return np.ascontiguousarray(tensor.detach().cpu().float().numpy())


def variables(model):
    """{name: float32 array or scalar} and {alias: target}"""
    values = {key: np.asarray(value) for key, value in _scalars(model).items()}
    for side in ("encoder", "decoder"):
        for i, layer in enumerate(getattr(model, side)):
            for name, parameter in layer.named_parameters():
                path = f"{side}/layer_{i}/" + name.replace(".", "/")
                if "layer_norm" in path:
                    path = path.replace("/weight", "/gamma").replace("/bias", "/beta")
                values[path] = _array(parameter)
        norm = getattr(model, side + "_norm")
        values[f"{side}/layer_norm/gamma"], values[f"{side}/layer_norm/beta"] = _array(norm.weight), _array(norm.bias)
    values["decoder/embeddings/weight"] = _array(model.embedding)
    values["decoder/position_encodings/encodings"] = _array(model.positions)
    values["decoder/projection/bias"] = _array(model.bias)
    aliases = {"decoder/projection/weight": "decoder/embeddings/weight",
               "encoder/embeddings_0/weight": "decoder/embeddings/weight",
               "encoder/position_encodings/encodings": "decoder/position_encodings/encodings"}
    return values, aliases


def _quantised(values):
    result = {}
    for name, value in values.items():
        if name.endswith("/weight") and value.ndim == 2:
            result[name], result[name + "_scale"] = quantise_rows(value)
        else:
            result[name] = value
    return result


def write_model(path, values, aliases):
    with open(path, "wb") as file:
        file.write(struct.pack("<I", _VERSION) + _name(_SPEC) + struct.pack("<II", _REVISION, len(values)))
        for name in sorted(values):
            value = np.ascontiguousarray(values[name]).reshape(np.shape(values[name]))
            file.write(_name(name) + struct.pack(f"<B{value.ndim}I", value.ndim, *value.shape))
            file.write(struct.pack("<BI", _TYPES[value.dtype], value.nbytes) + value.tobytes())
        file.write(struct.pack("<I", len(aliases)))
        for alias in sorted(aliases):
            file.write(_name(alias) + _name(aliases[alias]))


def read_model(path):
    """({name: array}, {alias: target}) of a version 6 file."""
    with open(path, "rb") as file:
        blob = file.read()
    place = 0

    def take(form):
        nonlocal place
        values = struct.unpack_from("<" + form, blob, place)
        place += struct.calcsize("<" + form)
        return values[0] if len(values) == 1 else values

    def name():
        size = take("H")
        return take(f"{size}s")[:-1].decode()

    kinds = {code: dtype for dtype, code in _TYPES.items()}
    version, spec, revision, count = take("I"), name(), take("I"), take("I")
    if (version, spec, revision) != (_VERSION, _SPEC, _REVISION):
        raise ValueError(f"not a model of this exporter: {version} {spec} {revision}")
    values = {}
    for _ in range(count):
        key, rank = name(), take("B")
        dims = [take("I") for _ in range(rank)]
        dtype, size = kinds[take("B")], take("I")
        values[key] = np.frombuffer(blob, dtype, size // dtype.itemsize, place).reshape(dims)
        place += size
    return values, {name(): name() for _ in range(take("I"))}


def export(model, tokenizer, folder, int8):
    """A whole model directory: weights, config, vocabulary and the tokenizer beside them."""
    os.makedirs(folder, exist_ok=True)
    values, aliases = variables(model)
    write_model(os.path.join(folder, "model.bin"), _quantised(values) if int8 else values, aliases)
    unknown, start, end = vocabulary.SPECIALS
    config = {"add_source_bos": False, "add_source_eos": True, "bos_token": start, "decoder_start_token": start,
              "eos_token": end, "layer_norm_epsilon": None, "multi_query_attention": False, "unk_token": unknown}
    with open(os.path.join(folder, "config.json"), "w", encoding="utf8") as file:
        json.dump(config, file, indent=2)
    with open(os.path.join(folder, "shared_vocabulary.json"), "w", encoding="utf8") as file:
        json.dump(vocabulary.pieces(tokenizer), file, ensure_ascii=False, indent=0)
    for name in ("source.spm", "target.spm"):
        shutil.copyfile(tokenizer + ".model", os.path.join(folder, name))
