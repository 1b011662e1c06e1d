#include "speech/load_slot_model.h"

#include <fstream>
#include <utility>

#include "error.h"
#include "speech/model_source.h"
#include "speech/parakeet/model.h"
#include "speech/parakeet/model_file.h"
#include "speech/whisper_cpp/model.h"

namespace verbatim {
namespace {

void refuse_what_is_whispers(AcceleratorMode accelerator,
                             const std::vector<transformer::AttentionHead>& heads) {
  if (accelerator == AcceleratorMode::kFloat32) {
    throw EngineError(ErrorCode::kInvalidArgument,
                      "accelerator is float32, allowed for a Parakeet model: auto, off");
  }
  if (!heads.empty()) {
    throw EngineError(
        ErrorCode::kInvalidArgument,
        "alignment heads are given, and a Parakeet model has none: it says itself when words were said");
  }
}

}  // namespace

std::shared_ptr<const SlotModel> load_slot_model(const std::filesystem::path& path, std::string_view device,
                                                 AcceleratorMode accelerator,
                                                 std::vector<transformer::AttentionHead> heads) {
  std::ifstream stream = open_model_file(path);
  if (!parakeet::is_parakeet_file(stream)) {
    return SpeechModel::load(path, device, accelerator, std::move(heads));
  }
  refuse_what_is_whispers(accelerator, heads);
  return parakeet::Model::load(path, device);
}

}  // namespace verbatim
