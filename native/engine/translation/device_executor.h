#pragma once

#include <memory>
#include <string_view>

#include "translation/device_weights.h"
#include "translation/executor.h"
#include "translation/transformer.h"

namespace verbatim::translation {

// ggml's device behind "cpu" or "cuda:N", which must have been checked (device.h).
ggml_backend_dev_t ggml_device(std::string_view id);

// The executor in ggml's own operations, for GPUs; it runs on any ggml device. threads: for the CPU. The
// other arguments must outlive it. Throws EngineError kOutOfMemory.
std::unique_ptr<Executor> make_device_executor(const Transformer& model, const DeviceWeights& weights,
                                               ggml_backend_dev_t device, int threads);

}  // namespace verbatim::translation
