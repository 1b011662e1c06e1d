#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "translation/model.h"

namespace verbatim::translation {

// The backends that were built in: "ggml" and perhaps "ctranslate2".
std::vector<std::string> backends();

// A model on the backend that the options name. Throws EngineError: kInvalidModel, kIoError,
// kDeviceUnavailable, kInvalidArgument, kOutOfMemory.
std::shared_ptr<const TranslationModel> load_model(const std::filesystem::path& directory,
                                                   const TranslationModelOptions& options);

}  // namespace verbatim::translation
