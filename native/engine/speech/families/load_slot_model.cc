#include "speech/load_slot_model.h"

#include <fstream>
#include <utility>

#include "device.h"
#include "error.h"
#include "speech/model_source.h"
#include "speech/parakeet/accelerated_model.h"
#include "speech/parakeet/model.h"
#include "speech/parakeet/model_file.h"
#include "speech/whisper_cpp/model.h"

namespace verbatim {
namespace {

void refuse_heads(const std::vector<transformer::AttentionHead>& heads) {
  if (heads.empty()) return;
  throw EngineError(ErrorCode::kInvalidArgument,
                    "alignment heads are given, and a Parakeet model has none: it says itself when words were said");
}

std::shared_ptr<const SlotModel> load_parakeet(const std::filesystem::path& path, std::string_view device,
                                               AcceleratorMode mode) {
  const bool is_cpu = find_device(device).id == "cpu";
  auto store = accelerator::make_weight_store(is_cpu ? mode : AcceleratorMode::kOff);
  if (!store) return parakeet::Model::load(path, device);
  return parakeet::AcceleratedModel::load(path, std::move(store));
}

}  // namespace

std::shared_ptr<const SlotModel> load_slot_model(const std::filesystem::path& path, std::string_view device,
                                                 AcceleratorMode accelerator,
                                                 std::vector<transformer::AttentionHead> heads) {
  std::ifstream stream = open_model_file(path);
  if (!parakeet::is_parakeet_file(stream)) {
    return SpeechModel::load(path, device, accelerator, std::move(heads));
  }
  refuse_heads(heads);
  return load_parakeet(path, device, accelerator);
}

}  // namespace verbatim
