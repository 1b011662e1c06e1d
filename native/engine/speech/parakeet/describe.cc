#include "speech/parakeet/describe.h"

#include "audio/sample_rate.h"
#include "speech/parakeet/mel.h"

namespace verbatim::parakeet {
namespace {

bool is_published(const ModelShape& shape) {
  return shape.state == 1024 && shape.layers == 24 && shape.prediction_state == 640;
}

}  // namespace

SpeechModelInfo describe(const ModelFileInfo& file, const DeviceInfo& device) {
  SpeechModelInfo info;
  info.family = "parakeet";
  info.abilities = {.detects_language = false,
                    .translates = false,
                    .takes_prompt = false,
                    .takes_temperature = false,
                    .times_words = true};
  info.type = is_published(file.shape) ? "parakeet-tdt-0.6b" : "custom";
  info.weight_type = ggml_type_name(weight_type(file.shape.file_type));
  info.device = device.id;
  info.device_name = device.name;
  info.memory_bytes = file.weight_bytes;
  return info;
}

double longest_window_seconds(const ModelShape& shape) noexcept {
  return static_cast<double>(shape.audio_context - 1) * kMelHop / kSampleRate;
}

}  // namespace verbatim::parakeet
