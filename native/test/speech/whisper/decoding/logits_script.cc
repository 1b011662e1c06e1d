#include "speech/whisper/decoding/logits_script.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace verbatim::test {
namespace {

using whisper::SpecialTokens;
using whisper::TokenId;

// SplitMix64: both a hash of the past and a source of random numbers.
class Mixer {
 public:
  explicit Mixer(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  void see(std::int64_t value) { state_ = next() ^ static_cast<std::uint64_t>(value); }
  int below(int bound) { return static_cast<int>(next() % static_cast<std::uint64_t>(bound)); }
  bool chance(float share) { return static_cast<float>(next() >> 40) < share * 16777216.0f; }
  // A multiple of 1/64.
  float between(float low, float high) {
    return low + static_cast<float>(below(static_cast<int>((high - low) * 64.0f) + 1)) / 64.0f;
  }

 private:
  std::uint64_t state_;
};

}  // namespace

class LogitsScript::Row {
 public:
  Row(const LogitsScript& script, int pass, std::span<const TokenId> text, std::span<float> out)
      : script_(script), tokens_(script.tokens_), style_(script.style_), out_(out), random_(script.seed_) {
    random_.see(pass);
    for (const TokenId token : text) random_.see(token);
    for (const TokenId token : text) {
      if (tokens_.is_time_stamp(token)) last_time_stamp_ = token;
    }
    first_ = text.empty();
  }

  void fill() {
    const auto& unlikely = script_.unlikely_;
    const auto from = unlikely.begin() + random_.below(static_cast<int>(unlikely.size()));
    std::rotate_copy(unlikely.begin(), from, unlikely.end(), out_.begin());
    for (int left = 1 + random_.below(6); left > 0; --left) raise(text_token());
    if (random_.chance(style_.end_of_text)) raise(tokens_.end_of_text);
    if (random_.chance(first_ ? 0.8f : style_.time_stamps)) raise_time_stamps();
    if (random_.chance(style_.banned)) raise(banned_token());
    if (first_ && random_.chance(style_.no_speech)) set(tokens_.no_speech, random_.between(8.0f, 18.0f));
    for (const auto& [token, logit] : script_.fixed) set(token, logit);
  }

 private:
  void set(TokenId token, float logit) { out_[static_cast<std::size_t>(token)] = logit; }
  void raise(TokenId token) { set(token, random_.between(style_.low, style_.high)); }

  // Spread over all ids of text tokens.
  TokenId text_token() {
    const auto index = static_cast<std::int64_t>(random_.below(style_.pool));
    return static_cast<TokenId>((index * 7919 + 13) % tokens_.end_of_text);
  }

  TokenId banned_token() {
    const std::array<TokenId, 9> banned = {tokens_.start_of_transcript,
                                           tokens_.translate,
                                           tokens_.transcribe,
                                           tokens_.start_of_lm,
                                           tokens_.start_of_previous,
                                           tokens_.no_speech,
                                           tokens_.no_time_stamps,
                                           script_.blank_,
                                           tokens_.language(random_.below(tokens_.languages))};
    return banned[static_cast<std::size_t>(random_.below(static_cast<int>(banned.size())))];
  }

  // A place shortly behind the last one, or anywhere, also before it.
  TokenId place() {
    const int count = tokens_.vocabulary - tokens_.first_time_stamp;
    if (random_.chance(0.2f)) return tokens_.first_time_stamp + random_.below(count);
    const int behind = last_time_stamp_ == 0 ? 0 : last_time_stamp_ - tokens_.first_time_stamp;
    return tokens_.first_time_stamp + std::min(count - 1, behind + random_.below(first_ ? 80 : 200));
  }

  // Makes one time stamp likely, or many that are likely only together. None is as likely as a text token: otherwise
  // the last bit of a sum would decide whether all of them together are likelier.
  void raise_time_stamps() {
    constexpr float kNoTie = 1.0f / 128.0f;
    if (random_.chance(0.6f)) return set(place(), random_.between(style_.low, style_.high) + kNoTie);
    const TokenId first = place();
    const TokenId end = std::min(tokens_.vocabulary, first + 2 + random_.below(60));
    const float height = random_.between(style_.low, style_.high) - 3.0f + kNoTie;
    for (TokenId id = first; id < end; ++id) set(id, height + random_.between(0.0f, 0.5f));
  }

  const LogitsScript& script_;
  const SpecialTokens& tokens_;
  const ScriptStyle& style_;
  std::span<float> out_;
  Mixer random_;
  TokenId last_time_stamp_ = 0;
  bool first_ = false;
};

LogitsScript::LogitsScript(const SpecialTokens& tokens, TokenId blank, const ScriptStyle& style, std::uint64_t seed)
    : tokens_(tokens), blank_(blank), style_(style), seed_(seed) {
  Mixer random(seed);
  unlikely_.resize(static_cast<std::size_t>(tokens.vocabulary));
  for (float& logit : unlikely_) logit = random.between(-24.0f, -16.0f);
}

void LogitsScript::fill(int pass, std::span<const TokenId> text, std::span<float> out) const {
  Row(*this, pass, text, out).fill();
}

}  // namespace verbatim::test
