#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "translation/model.h"

namespace verbatim::translation {

// The built-in backends: "ggml", and "ctranslate2" if it was built in.
std::vector<std::string> backends();

// Loads a model on the backend in the options. Throws EngineError: kInvalidModel, kIoError, kDeviceUnavailable,
// kInvalidArgument, kOutOfMemory.
std::shared_ptr<const TranslationModel> load_model(const std::filesystem::path& directory,
                                                   const TranslationModelOptions& options);

}  // namespace verbatim::translation
