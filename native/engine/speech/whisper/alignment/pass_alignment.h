#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "audio/cutting/window.h"
#include "speech/alignment/attention_weights.h"
#include "speech/whisper/decoding/decoding_request.h"

namespace verbatim::whisper {

// Length of an encoder position.
inline constexpr double kPositionSeconds = 0.02;

// The encoder positions that hold speech in a stretch of `hundredths` of a second that begins at the sample `begin`:
// those that `speech` touches, or all where it is empty or touches none. Each is below `most`, which is 1 or more.
std::vector<std::size_t> positions_of_speech(std::span<const SpeechSpan> speech, std::size_t begin, int hundredths,
                                             std::size_t most);

// Aligns the text of one encoder pass to its audio. The decoder reads the text once more, which is fully known now, and
// the cross-attention of some heads shows where each token is spoken. Like WindowDecoding it is a state machine:
// compute request(), call on_attention() for each head of the rows that want it, then starts().
class PassAlignment {
 public:
  // prompt: the tokens before a text without time stamps; the last is <|notimestamps|>. text: text tokens, one or more.
  // pieces: the spelling of each. heads: number of heads that are recorded, 1 or more. positions: the pass's encoder
  // positions that hold speech, ascending, 1 or more. text_positions: positions of the decoder; tokens beyond them
  // begin where the last token that fits ends. Throws std::bad_alloc.
  PassAlignment(std::vector<TokenId> prompt, std::span<const TokenId> text, std::span<const std::string_view> pieces,
                std::size_t heads, std::vector<std::size_t> positions, std::size_t text_positions);

  // One history; its rows are in order.
  const DecodingRequest& request() const noexcept { return request_; }
  // weights: cross-attention of request().rows[row] after the softmax, for `positions` positions or more. Any thread.
  void on_attention(std::size_t row, std::size_t head, std::span<const float> weights) noexcept;

  // The position at which each token begins, not decreasing, and last where the text ends: [text + 1].
  std::vector<std::size_t> starts() const;
  // The same, from these heads alone, one or more.
  std::vector<std::size_t> starts(std::span<const std::size_t> heads) const;
  std::size_t memory_bytes() const noexcept { return weights_.memory_bytes(); }

 private:
  std::vector<std::size_t> starts(const alignment::TokenMatrix& likeness) const;

  std::size_t text_;
  // The row whose next token is the first of the text.
  std::size_t first_row_;
  DecodingRequest request_;
  // Number of letters of each token that fits.
  std::vector<float> lengths_;
  alignment::AttentionWeights weights_;
};

}  // namespace verbatim::whisper
