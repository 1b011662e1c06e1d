#pragma once

#include <filesystem>
#include <memory>
#include <string_view>
#include <vector>

#include "accelerator/accelerator.h"
#include "speech/slot_model.h"
#include "transformer/decoder.h"

namespace verbatim {

// Loads a speech model whose windows are decoded one by one; the file determines the family. Whisper runs on
// whisper.cpp. So does Parakeet on a GPU and with the accelerator off; else it runs on this engine's kernels.
//
// - `device`: "cpu" or "cuda:N".
// - accelerator: for the CPU only. For Parakeet kAuto computes as `compute` says, kFloat32 in float32.
// - compute: for Parakeet on this engine's kernels, "int8", "bfloat16", "float32" or "auto"; for others "auto". "int8"
// is
//   for every product. "bfloat16" and "auto" are the accelerator's fastest type for the encoder's products, float32
//   without an accelerator.
// - alignment_heads: for Whisper as in load_recogniser(); refused for other families.
//
// The file is checked (magic, shapes, sizes) before whisper.cpp reads it. Throws EngineError: kInvalidModel, kIoError,
// kDeviceUnavailable, kOutOfMemory, kInvalidArgument.
std::shared_ptr<const SlotModel> load_slot_model(const std::filesystem::path& path, std::string_view device,
                                                 AcceleratorMode accelerator = AcceleratorMode::kOff,
                                                 std::string_view compute = "auto",
                                                 std::vector<transformer::AttentionHead> alignment_heads = {});

}  // namespace verbatim
