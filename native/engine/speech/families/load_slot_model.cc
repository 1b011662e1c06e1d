#include "speech/load_slot_model.h"

#include <fstream>
#include <string>
#include <utility>

#include "device.h"
#include "error.h"
#include "speech/model_source.h"
#include "speech/parakeet/cpu_model.h"
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

[[noreturn]] void refuse_compute(std::string_view compute, const std::string& allowed) {
  throw EngineError(ErrorCode::kInvalidArgument, "compute is \"" + std::string(compute) + "\"; " + allowed);
}

void check_spelling(std::string_view compute) {
  for (const std::string_view known : {"auto", "int8", "bfloat16", "float32"}) {
    if (compute == known) return;
  }
  refuse_compute(compute, "auto, int8, bfloat16 and float32 are allowed");
}

std::shared_ptr<const SlotModel> load_parakeet(const std::filesystem::path& path, std::string_view device,
                                               AcceleratorMode mode, std::string_view compute) {
  if (mode != AcceleratorMode::kOff && find_device(device).id == "cpu") {
    return parakeet::CpuModel::load(path, transformer::choose_format(mode, compute));
  }
  if (compute != "auto") refuse_compute(compute, "auto is allowed, since whisper.cpp computes the model");
  return parakeet::Model::load(path, device);
}

}  // namespace

std::shared_ptr<const SlotModel> load_slot_model(const std::filesystem::path& path, std::string_view device,
                                                 AcceleratorMode accelerator, std::string_view compute,
                                                 std::vector<transformer::AttentionHead> heads) {
  check_spelling(compute);
  std::ifstream stream = open_model_file(path);
  if (parakeet::is_parakeet_file(stream)) {
    refuse_heads(heads);
    return load_parakeet(path, device, accelerator, compute);
  }
  if (compute != "auto") refuse_compute(compute, "auto is allowed, since whisper.cpp computes the model");
  return SpeechModel::load(path, device, accelerator, std::move(heads));
}

}  // namespace verbatim
