#include "speech/parakeet/segments.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <string_view>

#include "speech/alignment/characters.h"
#include "speech/alignment/text_words.h"
#include "speech/utf8.h"

namespace verbatim::parakeet {
namespace {

using Tokens = std::span<const TimedToken>;

// SentencePiece's sign for a space.
constexpr std::string_view kSpace = "\xE2\x96\x81";
constexpr double kLeastProbability = 1e-10;

double log_probability(const TimedToken& timed) {
  return std::log(std::clamp(static_cast<double>(timed.token.probability), kLeastProbability, 1.0));
}

double mean_log_probability(Tokens tokens) {
  double sum = 0.0;
  for (const TimedToken& timed : tokens) sum += log_probability(timed);
  return sum / static_cast<double>(tokens.size());
}

// Number of tokens in the first sentence.
std::size_t sentence(Tokens tokens) {
  std::string text;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const std::string& next = tokens[i].token.text;
    if (i > 0 && alignment::begins_with_space(next) && alignment::ends_sentence(valid_utf8(text))) return i;
    text += next;
  }
  return tokens.size();
}

std::vector<Word> words_of(Tokens tokens) {
  std::vector<std::string_view> texts;
  for (const TimedToken& timed : tokens) texts.push_back(timed.token.text);
  std::vector<Word> words;
  for (alignment::TextWord& cut : alignment::cut_words(texts, true)) {
    float sum = 0.0f;
    for (std::size_t i = cut.first; i < cut.last; ++i) sum += tokens[i].token.probability;
    words.push_back({std::move(cut.text), tokens[cut.first].start_seconds, tokens[cut.last - 1].end_seconds,
                     sum / static_cast<float>(cut.last - cut.first)});
  }
  return words;
}

SegmentDecoding decoding_of(Tokens tokens) {
  SegmentDecoding decoding;
  for (const TimedToken& timed : tokens) decoding.tokens.push_back(timed.token.id);
  decoding.average_log_probability = mean_log_probability(tokens);
  return decoding;
}

Segment segment_of(Tokens tokens, bool align, bool describe) {
  Segment segment;
  std::string text;
  for (const TimedToken& timed : tokens) {
    text += timed.token.text;
    segment.tokens.push_back(timed.token);
  }
  segment.text = valid_utf8(text);
  std::vector<Word> words = words_of(tokens);
  segment.start_seconds = words.empty() ? tokens.front().start_seconds : words.front().start_seconds;
  segment.end_seconds = words.empty() ? tokens.back().end_seconds : words.back().end_seconds;
  if (align) segment.words = std::move(words);
  if (describe) segment.decoding = decoding_of(tokens);
  return segment;
}

}  // namespace

std::string text_of_piece(std::string_view piece) {
  if (piece == "<unk>" || piece == "<s>" || piece == "</s>" || piece == "[BLANK]") return {};
  std::string text(piece);
  for (std::size_t at = 0; (at = text.find(kSpace, at)) != std::string::npos; ++at) {
    text.replace(at, kSpace.size(), " ");
  }
  return text;
}

std::vector<Segment> make_segments(const std::vector<TimedToken>& tokens, double seconds, bool align, bool describe) {
  std::vector<Segment> segments;
  for (Tokens left(tokens); !left.empty();) {
    const std::size_t size = sentence(left);
    Segment segment = segment_of(left.first(size), align, describe);
    left = left.subspan(size);
    if (alignment::is_blank(segment.text)) continue;
    segments.push_back(std::move(segment));
  }
  for (Segment& segment : segments) {
    const auto clip = [seconds](double& time) { time = std::clamp(time, 0.0, seconds); };
    clip(segment.start_seconds);
    clip(segment.end_seconds);
    for (Word& word : segment.words) clip(word.start_seconds), clip(word.end_seconds);
  }
  return segments;
}

void score_tokens(const std::vector<TimedToken>& tokens, WindowResult& result) {
  result.scored_tokens = static_cast<int>(tokens.size());
  if (!tokens.empty()) result.average_log_probability = mean_log_probability(tokens);
}

}  // namespace verbatim::parakeet
