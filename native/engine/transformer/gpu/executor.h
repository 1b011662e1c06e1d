#pragma once

#include <ggml-backend.h>

#include <memory>
#include <string_view>

#include "transformer/compute_type.h"
#include "transformer/executor_factory.h"
#include "transformer/transformer.h"

namespace verbatim::translation {

// ggml's device behind "cpu" or "cuda:N", which must have been checked (device.h).
ggml_backend_dev_t ggml_device(std::string_view id);

// ggml's own operations, for GPUs; they run on any ggml device. `model` must outlive the factory, the factory
// its executors. Throws EngineError kOutOfMemory.
std::unique_ptr<const ExecutorFactory> make_gpu_factory(const Transformer& model, ComputeType type,
                                                        ggml_backend_dev_t device);

}  // namespace verbatim::translation
