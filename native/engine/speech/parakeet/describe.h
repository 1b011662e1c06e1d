#pragma once

#include "device.h"
#include "speech/model_info.h"
#include "speech/parakeet/model_file.h"

namespace verbatim::parakeet {

// Describes a model on whisper.cpp. memory_bytes: the weights as they are in the file.
SpeechModelInfo describe(const ModelFileInfo& file, const DeviceInfo& device);

// Longest window, seconds. A window of n samples has n / hop + 1 frames.
double longest_window_seconds(const ModelShape& shape) noexcept;

}  // namespace verbatim::parakeet
