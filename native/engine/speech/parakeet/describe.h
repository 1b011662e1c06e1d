#pragma once

#include "device.h"
#include "speech/model_info.h"
#include "speech/parakeet/model_file.h"

namespace verbatim::parakeet {

// A model on whisper.cpp; memory_bytes: as the file has its weights.
SpeechModelInfo describe(const ModelFileInfo& file, const DeviceInfo& device);

// The longest window it takes: one of n samples has n / hop + 1 frames.
double longest_window_seconds(const ModelShape& shape) noexcept;

}  // namespace verbatim::parakeet
