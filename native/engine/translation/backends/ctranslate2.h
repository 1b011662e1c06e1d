#pragma once

#include <filesystem>
#include <memory>

#include "translation/model.h"

namespace verbatim::translation {

// True when the engine was built with the CTranslate2 library.
bool has_ctranslate2() noexcept;

// Loads a model with the CTranslate2 library. Throws EngineError kInvalidArgument if the library is not built in, and
// what load_model() throws.
std::shared_ptr<const TranslationModel> load_ctranslate2_model(const std::filesystem::path& directory,
                                                               const TranslationModelOptions& options);

}  // namespace verbatim::translation
