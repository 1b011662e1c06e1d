#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace verbatim {

enum class SpeechTask { kTranscribe, kTranslate };

// Options of one window. The defaults are those of whisper.cpp's own command line, but greedy.
struct DecodeOptions {
  // ISO 639-1 code as whisper.cpp knows it, or "auto": detected from the window in the same encoder pass.
  std::string language = "auto";
  // With "auto": the language to prepare the prompt for; a right guess saves one pass over the prompt.
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
  // Text the model is to think was said before, in every pass over the window but a short last one; at most
  // 4096 bytes, the last 223 tokens count.
  std::string initial_prompt;
  // A window is empty when its no-speech probability is above this and its average log probability below
  // log_prob_threshold.
  float no_speech_threshold = 0.6f;
  // Average log probability of a decoding below which a higher temperature is tried.
  float log_prob_threshold = -1.0f;
  // Entropy (nats) of the last 32 tokens below which a decoding counts as a repetition and a higher
  // temperature is tried.
  float entropy_threshold = 2.4f;
  // Tokens a segment at most; 0 = the model's own limit.
  int max_tokens = 0;
  // Say how each token came to be chosen (Segment::choices). Costs some time.
  bool explain = false;
  // Encode at the window's own length (audio_ctx), rounded up to a multiple of 5.12 s, instead of padding to
  // 30 s.
  bool own_length = false;
  // Say when each word was said (Segment::words). The text is the same with it and without.
  bool align = false;
  // Say what each segment was decoded to, and how (Segment::decoding).
  bool describe = false;
};

struct Token {
  int id = 0;
  // Bytes; may be a part of a UTF-8 character.
  std::string text;
  // [0, 1]
  float probability = 0.0f;
};

// How a token was chosen, and how nearly another one would have been. Logarithms are natural ones.
struct TokenChoice {
  int id = 0;
  float log_probability = 0.0f;
  // The next likeliest of its kind, text or time stamp; -1 if there is none or the token was drawn at random.
  int runner_up = -1;
  float runner_up_log_probability = 0.0f;
  // By how much all time stamps together were likelier than the likeliest token of text.
  float time_stamp_lead = 0.0f;
  // How far logits would have to move, about, for this step of decoding to end otherwise.
  float margin = 0.0f;
};

struct Word {
  // Valid UTF-8, with the space before it as the tokens have it: the words of a segment joined are its text.
  std::string text;
  // Seconds from the start of the window, within it. Over a window's words they never decrease, and no two
  // words overlap; a word may have no length.
  double start_seconds = 0.0;
  double end_seconds = 0.0;
  // Mean over the word's tokens as they were decoded, [0, 1]; punctuation that joined it does not count.
  float probability = 0.0f;
  bool operator==(const Word&) const = default;
};

// How a segment came to be.
struct SegmentDecoding {
  // Text and time stamps.
  std::vector<int> tokens;
  // Mean natural log probability of these, <= 0, as they were decoded at the temperature.
  double average_log_probability = 0.0;
  // Of the pass that its text was taken from: the first one, or that of a fall-back.
  float temperature = 0.0f;
};

struct Segment {
  // Seconds from the start of the window. With words: of the first one's start and of the last one's end.
  double start_seconds = 0.0;
  double end_seconds = 0.0;
  std::string text;  // valid UTF-8
  // Probability of the no-speech token after the start of transcript, of the encoder pass.
  float no_speech_probability = 0.0f;
  // Text tokens only.
  std::vector<Token> tokens;
  // All that it was decoded to, time stamps and the end of text, too; only with DecodeOptions::explain, and
  // by recognisers that can tell.
  std::vector<TokenChoice> choices;
  // Only with DecodeOptions::align; then every segment has some.
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
  // Generated tokens, all fall-back passes included.
  int tokens = 0;
  // Temperatures tried beyond the first.
  int fallbacks = 0;
  // More than one when the model closed a segment before the end of the window.
  int encoder_passes = 0;

  // Sums up passes or windows.
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
  // How sure the model was: the mean natural log probability, <= 0, of the tokens that segments with text
  // were decoded to, text and time stamps alike; the prompt, the end of text and segments without a letter do
  // not count. Empty when no token counts. A token of a fall-back counts with its probability at that
  // temperature.
  std::optional<double> average_log_probability;
  // The tokens that count in it.
  int scored_tokens = 0;
  // The language the text was decoded in.
  std::string language;
  // Code and probability over the model's languages; empty unless the language was "auto".
  std::vector<std::pair<std::string, float>> language_probabilities;
  Timings timings;
};

}  // namespace verbatim
