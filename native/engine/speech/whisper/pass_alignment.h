#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "audio/cutting/window.h"
#include "speech/alignment/attention_weights.h"
#include "speech/whisper/decoding_request.h"

namespace verbatim::whisper {

// Of the encoder.
inline constexpr double kPositionSeconds = 0.02;

// The encoder positions that hold speech in so many hundredths of a second of a window, which begin at the
// sample `begin`: those that `speech` touches, or all where it is empty or touches none. Below `most`, 1 or
// more.
std::vector<std::size_t> positions_of_speech(std::span<const SpeechSpan> speech, std::size_t begin,
                                             int hundredths, std::size_t most);

// Lays the text of one encoder pass along its sound: the decoder reads the text once more, all of which is
// known now, and some heads' cross-attention shows where each token is said. A machine like WindowDecoding:
// compute request(), visit each head of the rows whose attention is wanted, then starts().
class PassAlignment {
 public:
  // prompt: what stands before a text without time stamps, <|notimestamps|> last. text: tokens of text, one
  // or more. pieces: what each of them is written as. heads: those whose attention is visited, 1 or more.
  // positions: of the pass that hold speech, ascending, 1 or more. text_positions: of the decoder; what of
  // the text does not fit begins where the last token that does ends. Throws std::bad_alloc.
  PassAlignment(std::vector<TokenId> prompt, std::span<const TokenId> text,
                std::span<const std::string_view> pieces, std::size_t heads,
                std::vector<std::size_t> positions, std::size_t text_positions);

  // One text; its rows in order.
  const DecodingRequest& request() const noexcept { return request_; }
  // weights: of request().rows[row], softmax done, positions or more. Any thread.
  void visit(std::size_t row, std::size_t head, std::span<const float> weights) noexcept;

  // The position at which each token begins, not decreasing, and last where the text ends: [text + 1].
  std::vector<std::size_t> starts() const;
  // The same by these heads alone, one or more.
  std::vector<std::size_t> starts(std::span<const std::size_t> heads) const;
  std::size_t memory_bytes() const noexcept { return weights_.memory_bytes(); }

 private:
  std::vector<std::size_t> starts(const alignment::TokenMatrix& likeness) const;

  std::size_t text_;
  // The row whose next token is the first of the text.
  std::size_t first_row_;
  DecodingRequest request_;
  // Of each token that fits: its letters.
  std::vector<float> lengths_;
  alignment::AttentionWeights weights_;
};

}  // namespace verbatim::whisper
