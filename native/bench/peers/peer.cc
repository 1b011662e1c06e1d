#include "peer.h"

namespace verbatim::bench {

DecodeOptions plain_english() {
  DecodeOptions options;
  options.language = "en";
  options.temperature_increment = 0.0f;
  options.no_speech_threshold = 1.0f;
  return options;
}

std::vector<transformer::TokenId> text_tokens(const WindowResult& result) {
  std::vector<transformer::TokenId> ids;
  for (const Segment& segment : result.segments) {
    for (const Token& token : segment.tokens) ids.push_back(token.id);
  }
  return ids;
}

}  // namespace verbatim::bench
