#pragma once

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>

#include "translation/backends/load.h"
#include "translation/model.h"

namespace verbatim::translation {

// The backend that the translation tests run on: VERBATIM_TRANSLATION_BACKEND, as for the service. If it is unset or
// "auto", the engine's choice.
inline std::string backend_under_test() {
  const char* const wanted = std::getenv("VERBATIM_TRANSLATION_BACKEND");
  if (!wanted || std::string(wanted) == "auto") return backends().front();
  return wanted;
}

// With the ggml backend a sentence has bit-identical results alone and in any batch; CTranslate2 does not promise that.
inline bool is_ggml_under_test() { return backend_under_test() == "ggml"; }

inline std::shared_ptr<const TranslationModel> load_under_test(const std::filesystem::path& directory,
                                                               TranslationModelOptions options = {}) {
  if (options.backend == "auto") options.backend = backend_under_test();
  return load_model(directory, options);
}

}  // namespace verbatim::translation
