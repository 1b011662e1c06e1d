#pragma once

#include <filesystem>
#include <memory>

#include "translation/model.h"

namespace verbatim::translation {

// True when the engine was built with the CTranslate2 library.
bool has_ct2_backend() noexcept;

// The same interface on the CTranslate2 library. Throws EngineError kInvalidArgument when it was not built
// in, and what TranslationModel::load throws.
std::shared_ptr<const TranslationModel> load_ct2_model(const std::filesystem::path& directory,
                                                       const TranslationModelOptions& options);

}  // namespace verbatim::translation
