#pragma once

#include <filesystem>
#include <memory>

#include "translation/model.h"

namespace verbatim::translation {

// Which of the built-in executors runs a model.
enum class GgmlExecutor {
  // Our kernels on the CPU, ggml's operations on GPUs.
  kBest,
  // ggml's operations everywhere: how the GPU's graphs are tested without one.
  kPortable,
};

// A CTranslate2 model on the built-in executors. Throws what TranslationModel::load throws.
std::shared_ptr<const TranslationModel> load_ggml_model(const std::filesystem::path& directory,
                                                        const TranslationModelOptions& options,
                                                        GgmlExecutor executor = GgmlExecutor::kBest);

}  // namespace verbatim::translation
