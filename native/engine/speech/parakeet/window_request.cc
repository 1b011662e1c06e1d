#include "speech/parakeet/window_request.h"

#include <string>

#include "error.h"
#include "speech/parakeet/decode_options.h"
#include "speech/window_bounds.h"

namespace verbatim::parakeet {

bool is_decoded(const Window& window, const DecodeOptions& options, double longest, const AbortFlag* abort) {
  check_decode_options(options);
  if (window.seconds() > longest) {
    throw EngineError(
        ErrorCode::kInvalidArgument,
        "the window is longer than the " + std::to_string(static_cast<int>(longest)) + " seconds of the model");
  }
  if (abort != nullptr && abort->is_set()) throw EngineError(ErrorCode::kAborted, "aborted by the caller");
  return window.samples.size() >= kShortestWindow;
}

WindowResult make_result(const std::vector<TimedToken>& tokens, const Window& window, const DecodeOptions& options,
                         Timings timings) {
  WindowResult result;
  result.language = options.language;
  result.segments = make_segments(tokens, window.seconds(), options.align, options.describe);
  score_tokens(tokens, result);
  timings.total_ms = timings.mel_ms + timings.encode_ms + timings.decode_ms;
  timings.tokens = static_cast<int>(tokens.size());
  result.timings = timings;
  return result;
}

}  // namespace verbatim::parakeet
