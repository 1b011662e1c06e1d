#include "speech/whisper_cpp/segments.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "speech/utf8.h"

namespace verbatim {
namespace {

// whisper.cpp counts time in hundredths of a second.
double clipped(std::int64_t hundredths, double low, double high) {
  return std::clamp(static_cast<double>(hundredths) / 100.0, low, high);
}

std::vector<Token> collect_tokens(whisper_context* context, whisper_state* state, int segment) {
  std::vector<Token> tokens;
  const whisper_token end = whisper_token_eot(context);
  for (int i = 0; i < whisper_full_n_tokens_from_state(state, segment); ++i) {
    const whisper_token id = whisper_full_get_token_id_from_state(state, segment, i);
    if (id >= end) continue;
    tokens.push_back({id, whisper_token_to_str(context, id), whisper_full_get_token_p_from_state(state, segment, i)});
  }
  return tokens;
}

SegmentDecoding decoding_of(whisper_context* context, whisper_state* state, int segment) {
  SegmentDecoding out;
  const whisper_token end = whisper_token_eot(context);
  const whisper_token first_time_stamp = whisper_token_beg(context);
  double sum = 0.0;
  for (int i = 0; i < whisper_full_n_tokens_from_state(state, segment); ++i) {
    const whisper_token_data token = whisper_full_get_token_data_from_state(state, segment, i);
    if (token.id >= end && token.id < first_time_stamp) continue;
    out.tokens.push_back(token.id);
    sum += static_cast<double>(token.plog);
  }
  if (!out.tokens.empty()) out.average_log_probability = sum / static_cast<double>(out.tokens.size());
  return out;
}

bool is_blank(const char* text) {
  return std::string_view(text).find_first_not_of(" \t\r\n") == std::string_view::npos;
}

}  // namespace

std::vector<Segment> collect_segments(whisper_context* context, whisper_state* state,
                                      const std::vector<float>& no_speech, double seconds) {
  std::vector<Segment> segments;
  for (int i = 0; i < whisper_full_n_segments_from_state(state); ++i) {
    Segment segment;
    segment.text = valid_utf8(whisper_full_get_segment_text_from_state(state, i));
    if (segment.text.empty()) continue;
    segment.start_seconds = clipped(whisper_full_get_segment_t0_from_state(state, i), 0.0, seconds);
    segment.end_seconds = clipped(whisper_full_get_segment_t1_from_state(state, i), segment.start_seconds, seconds);
    if (static_cast<std::size_t>(i) < no_speech.size()) {
      segment.no_speech_probability = no_speech[static_cast<std::size_t>(i)];
    }
    segment.tokens = collect_tokens(context, state, i);
    segments.push_back(std::move(segment));
  }
  return segments;
}

void describe_segments(whisper_context* context, whisper_state* state, const std::vector<float>& temperatures,
                       std::vector<Segment>& segments) {
  auto segment = segments.begin();
  for (int i = 0; i < whisper_full_n_segments_from_state(state) && segment != segments.end(); ++i) {
    // collect_segments() left these out.
    if (valid_utf8(whisper_full_get_segment_text_from_state(state, i)).empty()) continue;
    segment->decoding = decoding_of(context, state, i);
    const auto index = static_cast<std::size_t>(i);
    if (index < temperatures.size()) segment->decoding->temperature = temperatures[index];
    ++segment;
  }
}

void score_tokens(whisper_context* context, whisper_state* state, WindowResult& result) {
  const whisper_token end = whisper_token_eot(context);
  const whisper_token first_time_stamp = whisper_token_beg(context);
  double sum = 0.0;
  int tokens = 0;
  for (int i = 0; i < whisper_full_n_segments_from_state(state); ++i) {
    if (is_blank(whisper_full_get_segment_text_from_state(state, i))) continue;
    for (int j = 0; j < whisper_full_n_tokens_from_state(state, i); ++j) {
      const whisper_token_data token = whisper_full_get_token_data_from_state(state, i, j);
      if (token.id >= end && token.id < first_time_stamp) continue;
      sum += static_cast<double>(token.plog);
      ++tokens;
    }
  }
  result.scored_tokens = tokens;
  if (tokens > 0) result.average_log_probability = sum / tokens;
}

}  // namespace verbatim
