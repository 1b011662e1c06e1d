#pragma once

#include <filesystem>
#include <memory>
#include <string_view>
#include <vector>

#include "speech/load_recogniser.h"

namespace verbatim::whisper {

// As load_recogniser(), of a Whisper file.
std::shared_ptr<const Recogniser> make_recogniser(const std::filesystem::path& path, std::string_view device,
                                                  AcceleratorMode accelerator, std::string_view compute,
                                                  std::vector<transformer::AttentionHead> alignment_heads,
                                                  SpeechExecutor executor);

}  // namespace verbatim::whisper
