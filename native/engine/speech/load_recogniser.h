#pragma once

#include <filesystem>
#include <memory>
#include <string_view>
#include <vector>

#include "accelerator/accelerator.h"
#include "speech/recogniser.h"

namespace verbatim {

enum class SpeechExecutor {
  // Our kernels and the accelerator on the CPU, ggml's graphs on other devices.
  kByDevice,
  // ggml's graphs everywhere: how they are tested without a GPU.
  kGraphs,
};

// A speech model that decodes many windows at once. `device`: "cpu" or "cuda:N". `compute`: the type that the
// decoder's weights are held in for computing, "int8", "bfloat16", "float32", or "auto": the fastest one that
// does not cost words, on CUDA float16. With "float32" an encoder on the accelerator or on CUDA computes in
// float32 too; elsewhere CUDA's has weights as the file has them. accelerator: of the CPU only.
// alignment_heads: those of the decoder that words are aligned by; for none, all of the upper half of its
// layers. A file of a family that this engine does not decode itself is refused as kInvalidArgument: see
// load_slot_model(). Throws EngineError: kInvalidModel, kIoError, kDeviceUnavailable, kOutOfMemory,
// kInvalidArgument for another spelling and for what this build does not have.
std::shared_ptr<const Recogniser> load_recogniser(
    const std::filesystem::path& path, std::string_view device, AcceleratorMode accelerator,
    std::string_view compute, std::vector<transformer::AttentionHead> alignment_heads = {},
    SpeechExecutor executor = SpeechExecutor::kByDevice);

}  // namespace verbatim
