#include "speech/whisper/decoding/window_segments.h"

#include <algorithm>
#include <string>
#include <utility>

#include "speech/alignment/word_times.h"
#include "speech/utf8.h"

namespace verbatim::whisper {
namespace {

double clipped(std::int64_t hundredths, double low, double high) {
  return std::clamp(static_cast<double>(hundredths) / 100.0, low, high);
}

bool is_blank(std::string_view text) { return text.find_first_not_of(" \t\r\n") == std::string_view::npos; }

class SegmentCutter {
 public:
  SegmentCutter(std::span<const DecodedToken> text, const SpecialTokens& tokens, int seek)
      : text_(text), tokens_(tokens), seek_(seek), start_(time_of(text.front())) {}

  std::vector<DecodedSegment> run(int seek_delta) {
    for (std::size_t i = 0; i < text_.size(); ++i) {
      if (!closes(i)) continue;
      add(i + 1, time_of(text_[i]));
      start_ = time_of(text_[i]);
      opening_ = text_[i].id;
      first_ = i + 1;
    }
    add(text_.size(), seek_ + seek_delta);
    return std::move(segments_);
  }

 private:
  bool closes(std::size_t i) const { return text_[i].id > tokens_.first_time_stamp; }

  std::int64_t time_of(const DecodedToken& token) const {
    return seek_ + kHundredthsPerTimeStamp * (token.time_stamp - tokens_.first_time_stamp);
  }

  // Adds a segment unless there is no text before `end`.
  void add(std::size_t end, std::int64_t time) {
    const auto tokens = text_.subspan(first_, end - first_);
    if (std::ranges::none_of(tokens, [&](const DecodedToken& token) { return tokens_.is_text(token.id); })) {
      return;
    }
    segments_.push_back({start_, time, 0.0f, {tokens.begin(), tokens.end()}});
    segments_.back().opening = opening_;
  }

  std::span<const DecodedToken> text_;
  const SpecialTokens& tokens_;
  std::int64_t seek_;
  std::int64_t start_;
  TokenId opening_ = -1;
  std::size_t first_ = 0;
  std::vector<DecodedSegment> segments_;
};

TokenChoice choice_of(const DecodedToken& token) {
  return {token.id,    token.log_probability, token.runner_up, token.runner_up_log_probability, token.time_stamp_lead,
          token.margin};
}

struct Score {
  double sum = 0.0;
  int tokens = 0;
};

SegmentDecoding decoding_of(const DecodedSegment& segment, const SpecialTokens& tokens) {
  SegmentDecoding out;
  out.temperature = segment.temperature;
  out.opening = segment.opening;
  double sum = 0.0;
  for (const DecodedToken& token : segment.tokens) {
    if (!tokens.is_text(token.id) && !tokens.is_time_stamp(token.id)) continue;
    out.tokens.push_back(token.id);
    sum += static_cast<double>(token.log_probability);
  }
  if (!out.tokens.empty()) out.average_log_probability = sum / static_cast<double>(out.tokens.size());
  return out;
}

void add_scores(const DecodedSegment& segment, const SpecialTokens& tokens, Score& score) {
  for (const DecodedToken& token : segment.tokens) {
    if (!tokens.is_text(token.id) && !tokens.is_time_stamp(token.id)) continue;
    score.sum += static_cast<double>(token.log_probability);
    ++score.tokens;
  }
}

}  // namespace

std::vector<DecodedSegment> cut_segments(std::span<const DecodedToken> text, const SpecialTokens& tokens, int seek,
                                         int seek_delta) {
  if (text.empty()) return {};
  return SegmentCutter(text, tokens, seek).run(seek_delta);
}

void collect_segments(std::span<const DecodedSegment> segments, const SpecialTokens& tokens, const TokenText& text,
                      const SegmentFormat& format, WindowResult& result) {
  Score score;
  for (const DecodedSegment& decoded : segments) {
    Segment segment;
    std::string bytes;
    for (const DecodedToken& token : decoded.tokens) {
      if (format.explain) segment.choices.push_back(choice_of(token));
      if (!tokens.is_text(token.id)) continue;
      const std::string_view piece = text(token.id);
      bytes += piece;
      segment.tokens.push_back({token.id, std::string(piece), token.probability});
    }
    if (!is_blank(bytes)) add_scores(decoded, tokens, score);
    segment.text = valid_utf8(bytes);
    if (segment.text.empty()) continue;
    segment.start_seconds = clipped(decoded.start, 0.0, format.seconds);
    segment.end_seconds = clipped(decoded.end, segment.start_seconds, format.seconds);
    segment.no_speech_probability = decoded.no_speech_probability;
    if (format.describe) segment.decoding = decoding_of(decoded, tokens);
    if (!decoded.token_starts.empty()) {
      segment.words = alignment::make_words(segment.tokens, decoded.token_starts, format.spaced);
    }
    result.segments.push_back(std::move(segment));
  }
  result.scored_tokens = score.tokens;
  if (score.tokens > 0) result.average_log_probability = score.sum / score.tokens;
}

}  // namespace verbatim::whisper
