#pragma once

#include <memory>

#include "translation/cpu_weights.h"
#include "translation/executor.h"
#include "translation/kernels.h"
#include "translation/transformer.h"

namespace verbatim::translation {

// The executor for processors: our own kernels in ggml graphs, on ggml's threads. The arguments must outlive
// it. Throws EngineError kOutOfMemory.
std::unique_ptr<Executor> make_cpu_executor(const Transformer& model, const CpuWeights& weights,
                                            const Kernels& kernels, int threads);

}  // namespace verbatim::translation
