#include "speech/whisper_cpp/full_params.h"

namespace verbatim {

whisper_full_params full_params(const DecodeOptions& options, int threads) {
  whisper_full_params params =
      whisper_full_default_params(options.beam_size > 1 ? WHISPER_SAMPLING_BEAM_SEARCH : WHISPER_SAMPLING_GREEDY);
  params.n_threads = threads;
  params.no_context = true;
  params.print_progress = false;
  params.translate = options.task == SpeechTask::kTranslate;
  params.greedy.best_of = options.best_of;
  params.beam_search.beam_size = options.beam_size;
  params.temperature = options.temperature;
  params.temperature_inc = options.temperature_increment;
  params.no_speech_thold = options.no_speech_threshold;
  params.logprob_thold = options.log_prob_threshold;
  params.entropy_thold = options.entropy_threshold;
  params.max_tokens = options.max_tokens;
  return params;
}

}  // namespace verbatim
