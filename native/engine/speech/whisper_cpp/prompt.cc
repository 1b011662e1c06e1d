#include "speech/whisper_cpp/prompt.h"

#include <algorithm>

#include "speech/window_bounds.h"

namespace verbatim {
namespace {

// From this temperature on whisper.cpp leaves the history out (WHISPER_HISTORY_CONDITIONING_TEMP_CUTOFF).
constexpr float kHistoryCutoff = 0.5f;

}  // namespace

std::vector<whisper_token> first_prompt(whisper_context* context, const std::vector<whisper_token>& initial,
                                        int language, const DecodeOptions& options) {
  std::vector<whisper_token> prompt;
  if (!initial.empty() && options.temperature < kHistoryCutoff) {
    const auto room = static_cast<std::size_t>(whisper_n_text_ctx(context) / 2 - 1);
    const std::size_t taken = std::min(room, initial.size());
    prompt.push_back(whisper_token_prev(context));
    prompt.insert(prompt.end(), initial.end() - static_cast<std::ptrdiff_t>(taken), initial.end());
  }
  prompt.push_back(whisper_token_sot(context));
  if (whisper_is_multilingual(context) != 0) {
    prompt.push_back(whisper_token_lang(context, language));
    prompt.push_back(options.task == SpeechTask::kTranslate ? whisper_token_translate(context)
                                                            : whisper_token_transcribe(context));
  }
  const int layers = whisper_model_n_text_layer(context);
  if (!knows_time_stamps(layers, whisper_model_n_vocab(context))) {
    prompt.push_back(whisper_token_not(context));
  }
  return prompt;
}

}  // namespace verbatim
