#pragma once

#include <memory>

#include "transformer/compute_type.h"
#include "transformer/executor_factory.h"
#include "transformer/transformer.h"

namespace verbatim::transformer {

// The executor for processors: this engine's kernels in ggml graphs, on ggml's threads. `model` must outlive the
// factory, and the factory its executors. Throws EngineError kOutOfMemory.
std::unique_ptr<const ExecutorFactory> make_cpu_factory(const Transformer& model, ComputeType type);

}  // namespace verbatim::transformer
