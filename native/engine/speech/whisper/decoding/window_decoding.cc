#include "speech/whisper/decoding/window_decoding.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "audio/sample_rate.h"
#include "speech/alignment/text_words.h"
#include "speech/whisper/decoding/sequence_score.h"
#include "speech/whisper/decoding/start_of_transcript.h"
#include "speech/window_bounds.h"

namespace verbatim::whisper {
namespace {

using transformer::Kernels;

constexpr std::size_t kSamplesPerFrame = 160;
constexpr std::size_t kSamplesOfFirstFrame = 200;
// Below this temperature every token is the likeliest one.
constexpr float kColdest = 1e-6f;
constexpr float kWarmest = 1.0f + 1e-6f;
// A pass with less of the window left than this gets no earlier text in its prompt, in hundredths of a second.
constexpr int kShortRest = 500;

int mel_frames(std::size_t samples) {
  if (samples < kShortestWindow) return 0;
  return static_cast<int>(1 + (samples - kSamplesOfFirstFrame) / kSamplesPerFrame);
}

// The least margin of all draws, and of the last beam over the next candidate.
float beam_margin(std::span<const BeamCandidate> sorted, std::span<const BeamCandidate> chosen) {
  float margin = std::numeric_limits<float>::infinity();
  const double last = chosen.back().log_probability;
  for (const BeamCandidate& candidate : sorted) {
    margin = std::min(margin, candidate.token.margin);
    if (candidate.log_probability < last) {
      margin = std::min(margin, static_cast<float>(last - candidate.log_probability));
    }
  }
  return margin;
}

// whisper.cpp's id of the language that decoding begins with.
int first_language(const DecodingModel& model, const DecodeOptions& options) {
  const std::string& code = options.language == "auto" ? options.language_guess : options.language;
  const auto found = std::ranges::find(model.languages, code);
  return found == model.languages.end() ? 0 : static_cast<int>(found - model.languages.begin());
}

}  // namespace

WindowDecoding::WindowDecoding(const DecodingModel& model, const DecodeOptions& options,
                               const std::vector<TokenId>& initial_prompt, std::size_t samples,
                               std::vector<TokenId> prefix, const Kernels& kernels)
    : model_(model),
      options_(options),
      kernels_(kernels),
      rules_{model.tokens, model.blank, model.time_stamps, options.max_tokens},
      prompt_(model.tokens, options.task, model.time_stamps, model.text_positions, initial_prompt),
      prefix_(model.tokens, model.time_stamps, std::move(prefix)),
      seconds_(static_cast<double>(samples) / kSampleRate),
      seek_end_(mel_frames(samples)),
      most_passes_(most_encoder_passes(samples)),
      language_(first_language(model, options)) {
  const auto widest = static_cast<std::size_t>(std::max(options.beam_size, options.best_of));
  hypotheses_.resize(widest);
  histories_.resize(widest);
  draws_.resize(widest);
  for (std::size_t i = 0; i < widest; ++i) draws_[i].random.seed(static_cast<std::mt19937::result_type>(i));
  begin_pass();
  if (phase_ == Phase::kDone || options.language != "auto") return;
  detects_language_ = model.tokens.multilingual;
  if (!detects_language_) result_.language_probabilities = {{model.languages.front(), 1.0f}};
}

std::size_t WindowDecoding::width() const noexcept {
  return static_cast<std::size_t>(temperature_ > 0.0f ? options_.best_of : options_.beam_size);
}

void WindowDecoding::begin_pass() {
  const bool more = seek_ + kLeastRest < seek_end_ && result_.timings.encoder_passes < most_passes_;
  phase_ = more ? Phase::kEncode : Phase::kDone;
  if (!more && !prefix_.empty()) add_rest_of_prefix();
}

// No pass is left for it. Without any pass there is nothing that words could be aligned by.
void WindowDecoding::add_rest_of_prefix() {
  DecodedSegment segment{seek_, std::max(seek_, seek_end_), no_speech_};
  for (std::size_t i = 0; i < prefix_.size(); ++i) {
    if (!model_.tokens.is_text(prefix_.tokens()[i])) continue;
    const bool is_scored = i < prefix_.scored().size();
    segment.tokens.push_back(is_scored ? prefix_.scored()[i] : DecodedToken{prefix_.tokens()[i], 0, 1.0f});
  }
  if (options_.align && result_.timings.encoder_passes == 0) segment.token_starts.resize(segment.tokens.size() + 1);
  segments_.push_back(std::move(segment));
  prefix_.end_pass(prefix_.size());
}

TextBounds WindowDecoding::bounds() const noexcept {
  return {seek_, seek_end_, options_.max_tokens, longest_text(), model_.time_stamps};
}

void WindowDecoding::encoded() {
  ++result_.timings.encoder_passes;
  if (seek_ > 0 && seek_ + kShortRest >= seek_end_) prompt_.clear();
  prefix_.begin_pass(rules_, bounds());
  phase_ = Phase::kDecode;
  best_ = 0;
  temperature_ = options_.temperature;
  begin_temperature();
  request_start();
}

void WindowDecoding::begin_temperature() {
  std::fill_n(hypotheses_.begin(), width(), Hypothesis());
  active_.resize(width());
  std::iota(active_.begin(), active_.end(), std::size_t{0});
}

void WindowDecoding::request_start() {
  request_.parents = {DecodingRequest::kNewText};
  request_.rows = {{model_.tokens.start_of_transcript, 0, true}};
  start_row_ = 0;
  prompt_row_ = kNone;
  if (!detects_language_) add_prompt();
}

// Continues the history that holds <|startoftranscript|>, if there is one and nothing precedes it.
void WindowDecoding::add_prompt() {
  const std::vector<TokenId> prompt = prompt_.at(temperature_, language_);
  const bool goes_on = !request_.parents.empty() && prompt.front() == model_.tokens.start_of_transcript;
  if (!goes_on) request_.parents.push_back(DecodingRequest::kNewText);
  const std::size_t history = request_.parents.size() - 1;
  for (std::size_t i = goes_on ? 1 : 0; i < prompt.size(); ++i) {
    request_.rows.push_back({prompt[i], history, false});
  }
  prompt_row_ = request_.rows.size() - 1;
  request_.rows[prompt_row_].wants_logits = true;
  for (const TokenId token : prefix_.tokens()) request_.rows.push_back({token, history, true});
  std::ranges::fill(histories_, history);
}

void WindowDecoding::request_tokens() {
  request_ = {};
  start_row_ = kNone;
  prompt_row_ = kNone;
  for (const std::size_t hypothesis : active_) {
    const std::size_t history = request_.parents.size();
    request_.parents.push_back(histories_[hypothesis]);
    request_.rows.push_back({hypotheses_[hypothesis].tokens.back().id, history, true});
    histories_[hypothesis] = history;
  }
}

void WindowDecoding::on_logits(std::size_t row, std::span<float> logits) {
  if (row == start_row_) read_start(logits);
  if (detects_language_) return;
  if (prompt_row_ == kNone) {
    const std::size_t hypothesis = active_[row];
    draw(hypothesis, {kernels_, logits, rules_.allowed_after(hypotheses_[hypothesis]), temperature_});
  } else if (row >= prompt_row_) {
    const std::size_t place = row - prompt_row_;
    const TokenDistribution distribution(kernels_, logits, prefix_.allowed_at(place), temperature_);
    if (place < prefix_.size()) return prefix_.score(place, distribution);
    for (const std::size_t hypothesis : active_) draw(hypothesis, distribution);
  }
}

void WindowDecoding::read_start(std::span<const float> logits) {
  no_speech_ = no_speech_probability(kernels_, logits, model_.tokens);
  if (!detects_language_) return;
  const auto probabilities = language_probabilities(logits, model_.tokens, model_.languages.size());
  for (std::size_t id = 0; id < probabilities.size(); ++id) {
    result_.language_probabilities.emplace_back(model_.languages[id], probabilities[id]);
  }
  language_ = static_cast<int>(std::ranges::max_element(probabilities) - probabilities.begin());
}

// Beams draw their candidates too; whisper.cpp does not take the likeliest ones.
void WindowDecoding::draw(std::size_t hypothesis, const TokenDistribution& distribution) {
  Draw& drawn = draws_[hypothesis];
  drawn.count = 0;
  if (!searches_beams() && temperature_ < kColdest) {
    drawn.tokens[drawn.count++] = options_.explain ? distribution.explained_most_likely(kernels_)
                                                   : distribution.token(distribution.most_likely());
    return;
  }
  const TokenSampler sampler(kernels_, distribution);
  const std::size_t tokens = searches_beams() ? static_cast<std::size_t>(options_.beam_size) : 1;
  while (drawn.count < tokens) {
    DecodedToken& token = drawn.tokens[drawn.count++];
    const TokenSampler::Drawn chosen = sampler.draw_with_margin(drawn.random);
    token = distribution.token(chosen.id);
    token.margin = chosen.margin;
    if (searches_beams() && token.time_stamp == 0) token.time_stamp = model_.tokens.first_time_stamp;
  }
}

void WindowDecoding::advance() {
  if (detects_language_) {
    detects_language_ = false;
    // The text so far is <|startoftranscript|>; a prompt with tokens before it starts again.
    const bool alone = prompt_.at(temperature_, language_).front() == model_.tokens.start_of_transcript;
    request_ = {};
    if (alone) request_.parents = {0};
    start_row_ = kNone;
    return add_prompt();
  }
  result_.timings.tokens += static_cast<int>(active_.size());
  if (prompt_row_ != kNone) append_prefix();
  searches_beams() ? append_beams() : append_draws();
  const auto length = hypotheses_[active_.front()].tokens.size();
  std::erase_if(active_, [&](std::size_t i) { return hypotheses_[i].ended(); });
  if (active_.empty() || static_cast<int>(length) == longest_text()) return end_temperature();
  request_tokens();
}

void WindowDecoding::append(Hypothesis& hypothesis, const DecodedToken& token) const {
  whisper::append(hypothesis, token, bounds(), model_.tokens);
}

void WindowDecoding::append_prefix() {
  for (const std::size_t i : active_) {
    for (const DecodedToken& token : prefix_.scored()) append(hypotheses_[i], token);
  }
}

void WindowDecoding::append_draws() {
  for (const std::size_t i : active_) append(hypotheses_[i], draws_[i].tokens.front());
}

void WindowDecoding::append_beams() {
  std::vector<BeamCandidate> candidates;
  for (const std::size_t i : active_) {
    for (const DecodedToken& token : std::span(draws_[i].tokens).first(draws_[i].count)) {
      candidates.push_back({i, token, hypotheses_[i].log_probability + static_cast<double>(token.log_probability)});
    }
  }
  auto chosen = choose_beams(candidates, hypotheses_, active_.size());
  // Any token that might have been drawn or left out could have changed the final result.
  const float margin = options_.explain ? beam_margin(candidates, chosen) : 0.0f;
  std::vector<Hypothesis> longer;
  std::vector<std::size_t> histories;
  for (BeamCandidate& candidate : chosen) {
    candidate.token.margin = margin;
    longer.push_back(hypotheses_[candidate.hypothesis]);
    append(longer.back(), candidate.token);
    histories.push_back(histories_[candidate.hypothesis]);
  }
  for (std::size_t i = 0; i < active_.size(); ++i) {
    hypotheses_[active_[i]] = std::move(longer[i]);
    histories_[active_[i]] = histories[i];
  }
}

void WindowDecoding::end_temperature() {
  rank();
  const float warmer = temperature_ + options_.temperature_increment;
  const bool has_next = falls_back() && warmer > temperature_ && warmer < kWarmest;
  if (!has_next || is_acceptable(hypotheses_[best_])) return end_pass();
  temperature_ = warmer;
  ++result_.timings.fallbacks;
  begin_temperature();
  request_ = {};
  start_row_ = kNone;
  add_prompt();
}

// If every text failed, the best is the index chosen at the temperature before, whatever its text is now.
void WindowDecoding::rank() {
  double best = -std::numeric_limits<double>::infinity();
  double second = best;
  for (std::size_t i = 0; i < width(); ++i) {
    Hypothesis& hypothesis = hypotheses_[i];
    if (hypothesis.failed) continue;
    hypothesis.tokens.resize(static_cast<std::size_t>(hypothesis.result_length));
    hypothesis.average_log_probability = average_log_probability(hypothesis.tokens);
    hypothesis.failed = is_failed(hypothesis);
    if (hypothesis.failed) continue;
    if (!(best < hypothesis.average_log_probability)) {
      // Equal scores are taken for the same text.
      const bool other = hypothesis.average_log_probability < best;
      if (other) second = std::max(second, hypothesis.average_log_probability);
      continue;
    }
    second = std::exchange(best, hypothesis.average_log_probability);
    best_ = i;
  }
  // The last token's margin also covers the choice among the texts.
  auto& tokens = hypotheses_[best_].tokens;
  if (!tokens.empty()) tokens.back().margin = std::min(tokens.back().margin, static_cast<float>(best - second));
}

bool WindowDecoding::is_failed(const Hypothesis& hypothesis) const {
  const auto& tokens = hypothesis.tokens;
  if (tokens.size() > kEntropyTokens && entropy(tokens) < static_cast<double>(options_.entropy_threshold)) {
    return true;
  }
  return falls_back() && loops(tokens, model_.tokens);
}

bool WindowDecoding::is_acceptable(const Hypothesis& hypothesis) const {
  if (hypothesis.failed) return false;
  return !(hypothesis.average_log_probability < static_cast<double>(options_.log_prob_threshold)) ||
         !(no_speech_ < options_.no_speech_threshold);
}

void WindowDecoding::end_pass() {
  const Hypothesis& best = hypotheses_[best_];
  const bool silent = prefix_.empty() && no_speech_ > options_.no_speech_threshold &&
                      best.average_log_probability < static_cast<double>(options_.log_prob_threshold);
  const auto kept = silent ? 0 : static_cast<std::size_t>(best.result_length);
  prompt_.go_on(temperature_, std::span(best.tokens).first(kept));
  if (!silent) {
    for (DecodedSegment& segment : cut_segments(best.tokens, model_.tokens, seek_, best.seek_delta)) {
      segment.no_speech_probability = no_speech_;
      segment.temperature = temperature_;
      segments_.push_back(std::move(segment));
    }
  }
  prefix_.end_pass(best.tokens.size());
  seek_ += seek_delta(best);
  request_ = {};
  begin_pass();
}

// A text that ends with a single time stamp means that nothing follows.
int WindowDecoding::seek_delta(const Hypothesis& hypothesis) const {
  const auto& tokens = hypothesis.tokens;
  const std::size_t length = tokens.size();
  const bool cut_off = options_.max_tokens > 0 && static_cast<int>(length) > options_.max_tokens;
  const TokenId first = model_.tokens.first_time_stamp;
  const bool single = length > 1 && !cut_off && tokens[length - 2].id < first && tokens[length - 1].id > first;
  return single ? std::min(seek_end_ - seek_, kWindowHundredths) : hypothesis.seek_delta;
}

WindowResult WindowDecoding::result(const TokenText& text) {
  result_.language = model_.languages[static_cast<std::size_t>(language_)];
  const SegmentFormat format{seconds_, options_.explain,
                             options_.task == SpeechTask::kTranslate || alignment::has_spaces(result_.language),
                             options_.describe};
  collect_segments(segments_, model_.tokens, text, format, result_);
  return std::move(result_);
}

}  // namespace verbatim::whisper
