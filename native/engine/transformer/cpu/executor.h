#pragma once

#include <memory>

#include "transformer/compute_type.h"
#include "transformer/executor_factory.h"
#include "transformer/transformer.h"

namespace verbatim::transformer {

// For processors: our own kernels in ggml graphs, on ggml's threads. `model` must outlive the factory, the
// factory its executors. Throws EngineError kOutOfMemory.
std::unique_ptr<const ExecutorFactory> make_cpu_factory(const Transformer& model, ComputeType type);

}  // namespace verbatim::transformer
