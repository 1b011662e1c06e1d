#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace verbatim {

enum class SpeechTask { kTranscribe, kTranslate };

// Text that a window's transcript begins with.
struct TextPrefix {
  // Valid UTF-8. Empty: none is given.
  std::string text;
  // Of an earlier decoding of the same audio: SegmentDecoding::opening and tokens of its segments, joined. As far as
  // they spell the text they are taken; the rest of the text is split into tokens.
  std::vector<int> tokens;
};

// Options of one window. The defaults are those of whisper.cpp's command line, except that decoding is greedy.
//
// The service leaves best_of, the thresholds and max_tokens at their defaults. The tests that compare our decoder with
// whisper.cpp's (native/test/speech/whisper/decoding) run both at random values: faults in the fall-back, in silence
// and in cut text show at some values only.
struct DecodeOptions {
  // ISO 639-1 code as whisper.cpp spells it, or "auto": detected from the window in the same encoder pass.
  std::string language = "auto";
  // With "auto": the language that the prompt is prepared for. A right guess saves one pass over the prompt.
  std::string language_guess = "en";
  SpeechTask task = SpeechTask::kTranscribe;
  // 1 = greedy; 2..8 beams.
  int beam_size = 1;
  // Candidates sampled at temperatures above 0, 1..8.
  int best_of = 5;
  // First temperature, [0, 1].
  float temperature = 0.0f;
  // Step of the temperature fall-back, [0, 1]; 0 = no fall-back.
  float temperature_increment = 0.2f;
  // Text that the model treats as preceding the window. Every pass over the window gets it, except a short last one. At
  // most 4096 bytes; the last 223 tokens count.
  std::string initial_prompt;
  // The transcript is this text, and what the model writes behind it. Only for models whose abilities say so
  // (takes_prefix); at most 4096 bytes and 200 tokens.
  TextPrefix prefix;
  // A window is empty when its no-speech probability is above this and its average log probability is below
  // log_prob_threshold.
  float no_speech_threshold = 0.6f;
  // A decoding whose average log probability is below this is repeated at a higher temperature.
  float log_prob_threshold = -1.0f;
  // A decoding whose last 32 tokens have an entropy (nats) below this counts as a repetition and is repeated at a
  // higher temperature.
  float entropy_threshold = 2.4f;
  // Most tokens of a segment; 0 = the model's own limit. native/bench/engine gives every window the same work by it.
  int max_tokens = 0;
  // Report how each token was chosen (Segment::choices). Costs some time. Its user is
  // native/bench/transcribe_windows.cc: `verbatim bench parity` judges by the margins whether two decoders may differ
  // in a token.
  bool explain = false;
  // Encode at the window's own length (audio_ctx), rounded up to a multiple of 5.12 s, instead of padding to 30 s.
  bool own_length = false;
  // Report the time of each word (Segment::words). The text is the same with it and without.
  bool align = false;
  // Report the tokens of each segment and how they were decoded (Segment::decoding).
  bool describe = false;
};

struct Token {
  int id = 0;
  // Bytes; may be a part of a UTF-8 character.
  std::string text;
  // [0, 1]
  float probability = 0.0f;
};

// How a token was chosen, and how close the next candidate was. Logarithms are natural.
struct TokenChoice {
  int id = 0;
  float log_probability = 0.0f;
  // The next likeliest token of the same kind (text or time stamp). -1 if there is none or the token was drawn at
  // random.
  int runner_up = -1;
  float runner_up_log_probability = 0.0f;
  // Logarithm of the probability of all time stamps together, minus that of the likeliest text token.
  float time_stamp_lead = 0.0f;
  // Roughly how far logits would have to move for this step to end with another token.
  float margin = 0.0f;
};

struct Word {
  // Valid UTF-8, with the space before it as the tokens have it. The words of a segment joined are its text.
  std::string text;
  // Seconds from the start of the window, within it. Over a window's words they never decrease, and no two words
  // overlap. A word may have length 0.
  double start_seconds = 0.0;
  double end_seconds = 0.0;
  // Mean probability of the word's tokens as they were decoded, [0, 1]. Punctuation that joined the word does not
  // count.
  float probability = 0.0f;
  bool operator==(const Word&) const = default;
};

// How a segment was decoded.
struct SegmentDecoding {
  // The time stamp before `tokens` that they do not have; -1: there is none.
  int opening = -1;
  // Text tokens and time stamps.
  std::vector<int> tokens;
  // Mean natural log probability of `tokens`, <= 0, at the temperature they were decoded at.
  double average_log_probability = 0.0;
  // Temperature of the pass that the text was taken from: the first pass or a fall-back.
  float temperature = 0.0f;
};

struct Segment {
  // Seconds from the start of the window. With words: the first word's start and the last word's end.
  double start_seconds = 0.0;
  double end_seconds = 0.0;
  std::string text;  // valid UTF-8
  // Probability of the no-speech token after the start of transcript, in this segment's encoder pass.
  float no_speech_probability = 0.0f;
  // Text tokens only.
  std::vector<Token> tokens;
  // All decoded tokens, with time stamps and the end of text. Only with DecodeOptions::explain, and only from
  // recognisers that know it.
  std::vector<TokenChoice> choices;
  // Only with DecodeOptions::align; then every segment has at least one.
  std::vector<Word> words;
  // Only with DecodeOptions::describe.
  std::optional<SegmentDecoding> decoding;
};

// Wall-clock time of a window; mel + encode + decode = total. Language detection counts as decoding.
struct Timings {
  double mel_ms = 0.0;
  double encode_ms = 0.0;
  double decode_ms = 0.0;
  double total_ms = 0.0;
  // Generated tokens, those of all fall-back passes included.
  int tokens = 0;
  // Temperatures tried beyond the first.
  int fallbacks = 0;
  // More than 1 when the model closed a segment before the end of the window.
  int encoder_passes = 0;

  // Adds up passes or windows.
  Timings& operator+=(const Timings& other) noexcept {
    mel_ms += other.mel_ms;
    encode_ms += other.encode_ms;
    decode_ms += other.decode_ms;
    total_ms += other.total_ms;
    tokens += other.tokens;
    fallbacks += other.fallbacks;
    encoder_passes += other.encoder_passes;
    return *this;
  }
};

struct WindowResult {
  std::vector<Segment> segments;
  // Mean natural log probability, <= 0, of the tokens of segments with text: text tokens and time stamps. The prompt,
  // the end of text and segments without a letter do not count. Empty when no token counts. A token of a fall-back
  // counts with its probability at that temperature.
  std::optional<double> average_log_probability;
  // Number of tokens in that mean.
  int scored_tokens = 0;
  // The language the text was decoded in.
  std::string language;
  // Code and probability over the model's languages; empty unless the language was "auto".
  std::vector<std::pair<std::string, float>> language_probabilities;
  Timings timings;
};

}  // namespace verbatim
