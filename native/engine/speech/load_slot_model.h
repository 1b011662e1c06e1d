#pragma once

#include <filesystem>
#include <memory>
#include <string_view>
#include <vector>

#include "accelerator/accelerator.h"
#include "speech/slot_model.h"
#include "transformer/decoder.h"

namespace verbatim {

// Loads a speech model on whisper.cpp; the file determines the family. Parakeet runs on the accelerator where there is
// one and it is not off.
//
// - `device`: "cpu" or "cuda:N".
// - accelerator: for the CPU only.
// - alignment_heads: for Whisper as in load_recogniser(); refused for other families.
//
// The file is checked (magic, shapes, sizes) before whisper.cpp reads it. Throws EngineError: kInvalidModel, kIoError,
// kDeviceUnavailable, kOutOfMemory, kInvalidArgument.
std::shared_ptr<const SlotModel> load_slot_model(const std::filesystem::path& path, std::string_view device,
                                                 AcceleratorMode accelerator = AcceleratorMode::kOff,
                                                 std::vector<transformer::AttentionHead> alignment_heads = {});

}  // namespace verbatim
