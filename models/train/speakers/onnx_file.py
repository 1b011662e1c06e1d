"""The ONNX files: float32 graphs whose larger weights are stored in half precision or in bytes, with their facts beside them."""
import io
import os
import warnings

import numpy as np
import onnx
import torch
from onnx import numpy_helper

from . import powerset
from .features import SAMPLE_RATE

# Operator set that onnxruntime has known since 1.10.
OPSET = 14
# Weights with fewer values stay as they are.
_SMALL = 256


def embedding_facts(size):
    return dict(kind="speaker-embedding", sample_rate=SAMPLE_RATE, output_dim=size, normalized=1,
                min_samples=SAMPLE_RATE // 2)


def segmentation_facts(window, frame):
    """The keys that published segmentation models have, where they have one for it."""
    return dict(kind="speaker-segmentation", sample_rate=SAMPLE_RATE, window_size=window,
                receptive_field_size=frame, receptive_field_shift=frame, num_speakers=powerset.SPEAKERS,
                powerset_max_classes=powerset.AT_ONCE, num_classes=len(powerset.CLASSES))


def _stored(model, in_bytes):
    """Float32 initializers as float16 ones behind a cast, or with `in_bytes` the weights as int8 ones behind a cast and
    a factor for each output, which a runtime does once as it loads. Those of the features stay float16."""
    nodes, kept = [], []
    for tensor in model.graph.initializer:
        values = numpy_helper.to_array(tensor)
        if values.dtype != np.float32 or values.size < _SMALL:
            kept.append(tensor)
        elif in_bytes and values.ndim > 1 and not tensor.name.startswith("features."):
            scale = np.abs(values).max(tuple(range(1, values.ndim)), keepdims=True) / 127 + 1e-12
            kept += [numpy_helper.from_array(np.round(values / scale).astype(np.int8), tensor.name + ".byte"),
                     numpy_helper.from_array(scale.astype(np.float32), tensor.name + ".scale")]
            nodes += [_cast(tensor.name + ".byte", tensor.name + ".whole"),
                      onnx.helper.make_node("Mul", [tensor.name + ".whole", tensor.name + ".scale"], [tensor.name])]
        else:
            kept.append(numpy_helper.from_array(values.astype(np.float16), tensor.name + ".half"))
            nodes.append(_cast(tensor.name + ".half", tensor.name))
    nodes += list(model.graph.node)
    del model.graph.initializer[:], model.graph.node[:]
    model.graph.initializer.extend(kept)
    model.graph.node.extend(nodes)
    return model


def _cast(source, target):
    return onnx.helper.make_node("Cast", [source], [target], to=onnx.TensorProto.FLOAT)


def export(module, path, example, output, facts, in_bytes=False):
    """Writes `module` for inputs "samples" [n, 1, samples] like `example`; `facts` go into its metadata."""
    graph, training = io.BytesIO(), module.training
    with warnings.catch_warnings():
        # Of shape inference on constants, and of recurrent layers traced with a batch of one: their start is zero.
        warnings.simplefilter("ignore")
        torch.onnx.export(module.eval(), example, graph, opset_version=OPSET, input_names=["samples"],
                          output_names=[output], dynamic_axes={"samples": {0: "n", 2: "length"}, output: {0: "n"}})
    module.train(training)
    model = _stored(onnx.load_from_string(graph.getvalue()), in_bytes)
    onnx.helper.set_model_props(model, {key: str(value) for key, value in facts.items()})
    onnx.checker.check_model(model)
    onnx.save(model, path + ".part")
    os.replace(path + ".part", path)
