#pragma once

#include <filesystem>
#include <memory>
#include <string_view>
#include <vector>

#include "speech/load_recogniser.h"

namespace verbatim::whisper {

// Loads a Whisper file; arguments and errors as in load_recogniser().
std::shared_ptr<const Recogniser> make_recogniser(const std::filesystem::path& path, std::string_view device,
                                                  AcceleratorMode accelerator, std::string_view compute,
                                                  std::vector<transformer::AttentionHead> alignment_heads,
                                                  SpeechExecutor executor,
                                                  const transformer::WeightCacheOptions& weight_cache);

}  // namespace verbatim::whisper
