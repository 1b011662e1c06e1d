#pragma once

#include <filesystem>
#include <memory>

#include "translation/model.h"

namespace verbatim::translation {

// Which executor of the runtime runs a model.
enum class GgmlExecutor {
  // Our kernels on the CPU, the GPU's graphs on GPUs.
  kByDevice,
  // The GPU's graphs everywhere: how they are tested without one.
  kGpuGraphs,
};

// A CTranslate2 model file on the transformer runtime, the backend "ggml". Throws what load_model()
// throws.
std::shared_ptr<const TranslationModel> load_ggml_model(const std::filesystem::path& directory,
                                                        const TranslationModelOptions& options,
                                                        GgmlExecutor executor = GgmlExecutor::kByDevice);

}  // namespace verbatim::translation
