#pragma once

#include <filesystem>
#include <memory>
#include <string_view>
#include <vector>

#include "accelerator/accelerator.h"
#include "speech/recogniser.h"
#include "transformer/weight_cache_options.h"

namespace verbatim {

enum class SpeechExecutor {
  // This engine's kernels and the accelerator on the CPU, ggml's graphs on other devices.
  kByDevice,
  // ggml's graphs on every device. Tests use it to run the graphs without a GPU.
  kGraphs,
};

// Loads a speech model that decodes many windows at once.
//
// - `device`: "cpu" or "cuda:N".
// - `compute`: type of the model, "int8", "bfloat16", "float32" or "auto". On the CPU encoder and decoder compute in
//   this type, the encoder in float32 where the processor or the build does not multiply bfloat16. "auto" is the
//   fastest type that does not raise the word error rate: on the CPU int8 for the decoder, bfloat16 for the encoder;
//   on CUDA float16. CUDA's encoder has the file's own type, or float32 with "float32".
// - accelerator: of the encoder on the CPU. kAuto: the encoder computes as `compute` says, in int8 on this engine's
//   kernels, else on the accelerator. kFloat32: in float32. kOff: in ggml with the weights as stored.
// - alignment_heads: the decoder heads that words are aligned by. Empty: all heads of the upper half of the layers.
// - weight_cache: of weights for this engine's own kernels on the CPU. What the accelerator or ggml packs is not kept.
//
// Throws EngineError: kInvalidModel, kIoError, kDeviceUnavailable, kOutOfMemory; kInvalidArgument for another spelling,
// for what this build does not have, and for a family that has no decoder here (see load_slot_model()).
std::shared_ptr<const Recogniser> load_recogniser(const std::filesystem::path& path, std::string_view device,
                                                  AcceleratorMode accelerator, std::string_view compute,
                                                  std::vector<transformer::AttentionHead> alignment_heads = {},
                                                  SpeechExecutor executor = SpeechExecutor::kByDevice,
                                                  const transformer::WeightCacheOptions& weight_cache = {});

}  // namespace verbatim
