#pragma once

#include <filesystem>
#include <memory>

#include "translation/model.h"

namespace verbatim::translation {

// Which executor of the transformer runtime runs a model.
enum class GgmlExecutor {
  // The CPU kernels on the CPU, the GPU's graphs on GPUs.
  kByDevice,
  // The GPU's graphs on every device. Tests use it to run the graphs without a GPU.
  kGpuGraphs,
};

// Loads a CTranslate2 model file with the transformer runtime: the backend "ggml". Throws what load_model() throws.
std::shared_ptr<const TranslationModel> load_ggml_model(const std::filesystem::path& directory,
                                                        const TranslationModelOptions& options,
                                                        GgmlExecutor executor = GgmlExecutor::kByDevice);

}  // namespace verbatim::translation
