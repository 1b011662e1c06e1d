#pragma once

#include <ggml-backend.h>

#include <memory>

#include "transformer/compute_type.h"
#include "transformer/executor_factory.h"
#include "transformer/transformer.h"

namespace verbatim::transformer {

// The executor in ggml's own operations, for GPUs; it runs on any ggml backend device. `model` must outlive the
// factory, and the factory its executors. Throws EngineError kOutOfMemory.
std::unique_ptr<const ExecutorFactory> make_gpu_factory(const Transformer& model, ComputeType type,
                                                        ggml_backend_dev_t backend_device);

}  // namespace verbatim::transformer
