#include "speech/load_recogniser.h"

#include <fstream>
#include <utility>

#include "error.h"
#include "speech/model_source.h"
#include "speech/parakeet/model_file.h"
#include "speech/whisper/recogniser.h"

namespace verbatim {

std::shared_ptr<const Recogniser> load_recogniser(const std::filesystem::path& path, std::string_view device,
                                                  AcceleratorMode accelerator, std::string_view compute,
                                                  std::vector<transformer::AttentionHead> alignment_heads,
                                                  SpeechExecutor executor,
                                                  const transformer::WeightCacheOptions& weight_cache) {
  std::ifstream stream = open_model_file(path);
  if (parakeet::is_parakeet_file(stream)) {
    throw EngineError(
        ErrorCode::kInvalidArgument,
        path.filename().string() + " is a Parakeet model, which whisper.cpp decodes, and no other decoder");
  }
  return whisper::make_recogniser(path, device, accelerator, compute, std::move(alignment_heads), executor,
                                  weight_cache);
}

}  // namespace verbatim
