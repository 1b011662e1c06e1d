#include "translation/ct2_backend.h"

#include "error.h"

namespace verbatim::translation {

bool has_ct2_backend() noexcept { return false; }

std::shared_ptr<const TranslationModel> load_ct2_model(const std::filesystem::path&,
                                                       const TranslationModelOptions&) {
  throw EngineError(
      ErrorCode::kInvalidArgument,
      "translation backend \"ctranslate2\" was not built in; configure the build with CTRANSLATE2_ROOT");
}

}  // namespace verbatim::translation
