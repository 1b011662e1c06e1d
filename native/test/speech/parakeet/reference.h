#pragma once

#include <doctest/doctest.h>
#include <parakeet.h>

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "audio/cutting/window.h"
#include "audio/sample_rate.h"
#include "speech/decode.h"
#include "speech/random_models/noise.h"
#include "speech/whisper_log.h"

namespace verbatim::test {

inline Window noise_window(double seconds, std::uint32_t seed) {
  Window window;
  window.samples = random_models::noise(static_cast<std::size_t>(seconds * kSampleRate), seed);
  // Loudness rises and falls, so that positions differ.
  for (std::size_t i = 0; i < window.samples.size(); ++i) {
    window.samples[i] *= 0.3f * std::abs(std::sin(static_cast<float>(i) / 3000.0f));
  }
  return window;
}

inline DecodeOptions english() {
  DecodeOptions options;
  options.language = "en";
  return options;
}

// whisper.cpp's command line, through its library.
class Reference {
 public:
  explicit Reference(const std::filesystem::path& path) {
    capture_whisper_log();
    parakeet_context_params params = parakeet_context_default_params();
    params.use_gpu = false;
    context_.reset(parakeet_init_from_file_with_params(path.c_str(), params));
    REQUIRE(context_ != nullptr);
  }

  std::vector<parakeet_token_data> tokens(const Window& window) {
    parakeet_full_params params = parakeet_full_default_params(PARAKEET_SAMPLING_GREEDY);
    params.n_threads = 2;
    REQUIRE(parakeet_full(context_.get(), params, window.samples.data(), static_cast<int>(window.samples.size())) == 0);
    text.clear();
    std::vector<parakeet_token_data> tokens;
    for (int segment = 0; segment < parakeet_full_n_segments(context_.get()); ++segment) {
      text += parakeet_full_get_segment_text(context_.get(), segment);
      for (int i = 0; i < parakeet_full_n_tokens(context_.get(), segment); ++i) {
        tokens.push_back(parakeet_full_get_token_data(context_.get(), segment, i));
      }
    }
    return tokens;
  }

  std::string text;

 private:
  struct Free {
    void operator()(parakeet_context* context) const noexcept { parakeet_free(context); }
  };
  std::unique_ptr<parakeet_context, Free> context_;
};

}  // namespace verbatim::test
