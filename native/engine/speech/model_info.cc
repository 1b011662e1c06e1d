#include "speech/model_info.h"

#include <whisper.h>

#include "device.h"
#include "speech/model_file.h"

namespace verbatim {
namespace {

// The shapes that OpenAI published; every other one is "custom".
std::string shape_name(const ModelShape& shape) {
  struct Published {
    int state, audio_layers, text_layers, mels;
    const char* name;
  };
  static constexpr Published kPublished[] = {
      {384, 4, 4, 80, "tiny"},
      {512, 6, 6, 80, "base"},
      {768, 12, 12, 80, "small"},
      {1024, 24, 24, 80, "medium"},
      {1280, 32, 32, 80, "large"},
      {1280, 32, 32, 128, "large-v3"},
      {1280, 32, 4, 128, "large-v3-turbo"},
  };
  for (const Published& known : kPublished) {
    if (shape.audio_state == known.state && shape.audio_layers == known.audio_layers &&
        shape.text_layers == known.text_layers && shape.mels == known.mels) {
      return known.name;
    }
  }
  return "custom";
}

std::vector<std::string> language_codes(const ModelShape& shape) {
  if (!shape.multilingual()) return {"en"};
  std::vector<std::string> codes;
  for (int id = 0; id < shape.languages(); ++id) codes.emplace_back(whisper_lang_str(id));
  return codes;
}

}  // namespace

SpeechModelInfo describe_model(const ModelFileInfo& file, const DeviceInfo& device) {
  SpeechModelInfo info;
  info.type = shape_name(file.shape);
  info.weight_type = ggml_type_name(weight_type(file.shape.file_type));
  info.multilingual = file.shape.multilingual();
  info.abilities.translates = info.multilingual;
  info.languages = language_codes(file.shape);
  info.device = device.id;
  info.device_name = device.name;
  info.memory_bytes = file.weight_bytes;
  return info;
}

}  // namespace verbatim
