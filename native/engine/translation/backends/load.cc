#include "translation/backends/load.h"

#include "error.h"
#include "translation/backends/ctranslate2.h"
#include "translation/backends/ggml/model.h"

namespace verbatim::translation {

std::vector<std::string> backends() {
  std::vector<std::string> names{"ggml"};
  if (has_ctranslate2()) names.emplace_back("ctranslate2");
  return names;
}

std::shared_ptr<const TranslationModel> load_model(const std::filesystem::path& directory,
                                                   const TranslationModelOptions& options) {
  const std::string& backend = options.backend;
  if (backend == "ggml" || backend == "auto") return load_ggml_model(directory, options);
  if (backend == "ctranslate2") return load_ctranslate2_model(directory, options);
  throw EngineError(ErrorCode::kInvalidArgument,
                    "translation backend \"" + backend + "\" is unknown; auto, ggml and ctranslate2 are allowed");
}

}  // namespace verbatim::translation
