#pragma once

#include <array>
#include <cstddef>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "speech/decode.h"
#include "speech/whisper/decoding/beam_search.h"
#include "speech/whisper/decoding/decoding_request.h"
#include "speech/whisper/decoding/hypothesis.h"
#include "speech/whisper/decoding/logits_rules.h"
#include "speech/whisper/decoding/token_distribution.h"
#include "speech/whisper/decoding/window_prefix.h"
#include "speech/whisper/decoding/window_prompt.h"
#include "speech/whisper/decoding/window_segments.h"
#include "speech/whisper/model/special_tokens.h"
#include "transformer/decoder.h"
#include "transformer/kernels/kernels.h"

namespace verbatim::whisper {

// What the decoding of windows needs to know of a model.
struct DecodingModel {
  SpecialTokens tokens;
  // The token of a single space.
  TokenId blank = 0;
  // ISO 639-1 codes, by whisper.cpp's language id.
  std::vector<std::string> languages;
  // Positions of the decoder.
  int text_positions = 448;
  // False for the first distilled models: two decoder layers, a vocabulary below 51866.
  bool time_stamps = true;
  // The heads whose cross-attention shows when each word is spoken; one or more.
  std::vector<transformer::AttentionHead> alignment_heads;
};

// Decodes one window by Whisper's rules, as whisper_full_with_state of whisper.cpp 1.9.1 does. It is a state machine
// that requests the rows of a step and takes their logits; it knows neither model nor threads:
//
//   while phase() is not kDone:
//     kEncode: encode from seek(), then encoded()
//     kDecode: compute request(), on_logits() for each row whose logits are wanted, then advance()
//
// With a prefix every hypothesis begins with its tokens, and the segments hold its text whatever is decoded.
//
// It differs from whisper.cpp in three ways. The no-speech probability is read after <|startoftranscript|> alone, in
// every pass, where whisper.cpp reads uninitialised memory. The number of encoder passes is bounded. And where there is
// a fall-back, a text that loops (loops() in sequence_score.h) counts as failed.
class WindowDecoding {
 public:
  enum class Phase { kEncode, kDecode, kDone };

  // model: must outlive this. options: checked (check_decode_options). initial_prompt: its tokens. samples: number of
  // samples of the window at 16 kHz, at most 30 seconds. A window of less than 0.11 s is done at once. prefix: the
  // tokens of options.prefix (prefix_tokens), fewer than half the model's text positions.
  WindowDecoding(const DecodingModel& model, const DecodeOptions& options, const std::vector<TokenId>& initial_prompt,
                 std::size_t samples, std::vector<TokenId> prefix = {},
                 const transformer::Kernels& kernels = transformer::kernels());

  Phase phase() const noexcept { return phase_; }
  // Where the current or next encoder pass begins in the window, in hundredths of a second, which are mel frames.
  int seek() const noexcept { return seek_; }
  // Where the audio ends, in hundredths of a second.
  int seek_end() const noexcept { return seek_end_; }
  // To be called after an encoder pass. Histories start again.
  void encoded();

  // Valid until advance().
  const DecodingRequest& request() const noexcept { return request_; }
  // logits: [vocabulary], of request().rows[row]; modified. Any thread, different rows at a time. Throws
  // std::bad_alloc.
  void on_logits(std::size_t row, std::span<float> logits);
  void advance();

  // Segments so far. Unlike result() they include time stamps.
  const std::vector<DecodedSegment>& segments() const noexcept { return segments_; }
  // Sets DecodedSegment::token_starts of a segment.
  void set_token_starts(std::size_t segment, std::vector<double> starts) {
    segments_[segment].token_starts = std::move(starts);
  }
  // The prompt of a text without time stamps and without earlier text.
  std::vector<TokenId> plain_prompt() const { return prompt_.plain(language_); }
  // Call once, when kDone. The caller fills in the timings.
  WindowResult result(const TokenText& text);

 private:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  static constexpr std::size_t kMostBeams = 8;
  // The tokens drawn for one hypothesis from its logits: one token, or one for each beam.
  struct Draw {
    std::mt19937 random;
    std::array<DecodedToken, kMostBeams> tokens;
    std::size_t count = 0;
  };

  bool searches_beams() const noexcept { return options_.beam_size > 1; }
  bool falls_back() const noexcept { return options_.temperature_increment > 0.0f; }
  std::size_t width() const noexcept;
  int longest_text() const noexcept { return model_.text_positions / 2 - 4; }

  void begin_pass();
  TextBounds bounds() const noexcept;
  void add_rest_of_prefix();
  void begin_temperature();
  void request_start();
  void add_prompt();
  void request_tokens();

  void read_start(std::span<const float> logits);
  void draw(std::size_t hypothesis, const TokenDistribution& distribution);
  void append(Hypothesis& hypothesis, const DecodedToken& token) const;
  void append_prefix();
  void append_draws();
  void append_beams();

  void end_temperature();
  void rank();
  bool is_failed(const Hypothesis& hypothesis) const;
  bool is_acceptable(const Hypothesis& hypothesis) const;
  void end_pass();
  int seek_delta(const Hypothesis& hypothesis) const;

  const DecodingModel& model_;
  DecodeOptions options_;
  const transformer::Kernels& kernels_;
  LogitsRules rules_;
  WindowPrompt prompt_;
  WindowPrefix prefix_;
  double seconds_;
  // Mel frames of the window.
  int seek_end_;
  int most_passes_;

  Phase phase_ = Phase::kDone;
  int seek_ = 0;
  float temperature_ = 0.0f;
  int language_ = 0;
  // True until the first step, which then has <|startoftranscript|> alone.
  bool detects_language_ = false;
  float no_speech_ = 0.0f;

  DecodingRequest request_;
  std::size_t start_row_ = kNone;
  // The prompt's last row, which the prefix follows; kNone where each row belongs to one of active_.
  std::size_t prompt_row_ = kNone;

  // As many as any temperature needs. Each temperature resets the first width(); the others keep their state, as
  // whisper.cpp's decoders do.
  std::vector<Hypothesis> hypotheses_;
  std::vector<Draw> draws_;
  // For each hypothesis, the history of this step that it continues.
  std::vector<std::size_t> histories_;
  // Hypotheses that have not ended, ascending.
  std::vector<std::size_t> active_;
  std::size_t best_ = 0;

  std::vector<DecodedSegment> segments_;
  WindowResult result_;
};

}  // namespace verbatim::whisper
