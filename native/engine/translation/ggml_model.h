#pragma once

#include <filesystem>
#include <memory>

#include "translation/model.h"

namespace verbatim::translation {

// A CTranslate2 model on the built-in executors. Throws what TranslationModel::load throws.
std::shared_ptr<const TranslationModel> load_ggml_model(const std::filesystem::path& directory,
                                                        const TranslationModelOptions& options);

}  // namespace verbatim::translation
