#include "speech/whisper/decoding/token_distribution.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace verbatim::whisper {
namespace {

using transformer::Kernels;

constexpr float kNothing = -std::numeric_limits<float>::infinity();
constexpr TokenId kBlock = 256;
using Exponentials = std::array<float, kBlock>;

float& at(std::span<float> logits, TokenId id) { return logits[static_cast<std::size_t>(id)]; }

std::size_t size_of(TokenRange range) { return static_cast<std::size_t>(range.end - range.begin); }

// log(exp(a) + exp(b))
float log_add(float a, float b) {
  const float high = std::max(a, b);
  if (!(std::min(a, b) > kNothing)) return high;
  return high + std::log1p(std::exp(std::min(a, b) - high));
}

// The outer borders, 0 and 1, do not move.
float nats_to_border(double border, double target) {
  const double speed = 2 * border * (1 - border);
  return speed > 0 ? static_cast<float>(std::abs(border - target) / speed) : -kNothing;
}

double sum_of(const Exponentials& values, std::size_t count) {
  constexpr std::size_t kParts = 8;
  std::array<double, kParts> parts{};
  std::size_t i = 0;
  for (; i + kParts <= count; i += kParts) {
    for (std::size_t j = 0; j < kParts; ++j) parts[j] += static_cast<double>(values[i + j]);
  }
  double sum = 0.0;
  for (; i < count; ++i) sum += static_cast<double>(values[i]);
  for (const double part : parts) sum += part;
  return sum;
}

}  // namespace

struct TokenDistribution::Peak {
  TokenId id = 0;
  float logit = kNothing;
  float log_sum = kNothing;
};

TokenDistribution::Peak TokenDistribution::peak_of(const Kernels& kernels, TokenRange range) const {
  Peak peak;
  if (range.empty()) return peak;
  const float* first = logits_.data() + range.begin;
  kernels.top_k(first, size_of(range), 1, &peak.id, &peak.logit);
  peak.id += range.begin;
  if (peak.logit > kNothing) peak.log_sum = kernels.log_sum_exp(first, size_of(range), peak.logit);
  return peak;
}

TokenDistribution::TokenDistribution(const Kernels& kernels, std::span<float> logits, const AllowedTokens& allowed,
                                     float temperature)
    : logits_(logits), text_(allowed.text), time_stamps_(allowed.time_stamps) {
  if (temperature > 0.0f) {
    for (float& logit : logits) logit /= temperature;
  }
  if (allowed.banned >= text_.begin && allowed.banned < text_.end) at(logits, allowed.banned) = kNothing;
  const Peak text = peak_of(kernels, text_);
  const Peak stamp = peak_of(kernels, time_stamps_);
  log_sum_ = log_add(text.log_sum, stamp.log_sum);
  time_stamp_lead_ = stamp.log_sum - text.logit;
  if (stamp.log_sum > text.logit) text_ = {};
  best_ = text_.empty() ? stamp.id : text.id;
  const bool possible = std::exp(stamp.logit - log_sum_) > 0.0f;
  best_time_stamp_ = possible ? stamp.id : 0;
}

DecodedToken TokenDistribution::token(TokenId id) const {
  DecodedToken token;
  token.id = id;
  token.time_stamp = id >= time_stamps_.begin && id < time_stamps_.end ? id : best_time_stamp_;
  token.log_probability = logits_[static_cast<std::size_t>(id)] - log_sum_;
  token.probability = std::exp(token.log_probability);
  return token;
}

DecodedToken TokenDistribution::explained_most_likely(const Kernels& kernels) const {
  DecodedToken token = this->token(best_);
  const TokenRange kind = text_.empty() ? time_stamps_ : text_;
  std::array<TokenId, 2> ids{};
  std::array<float, 2> logits{kNothing, kNothing};
  const std::size_t found = std::min(ids.size(), size_of(kind));
  kernels.top_k(logits_.data() + kind.begin, size_of(kind), found, ids.data(), logits.data());
  if (found == ids.size()) token.runner_up = kind.begin + ids[1];
  token.runner_up_log_probability = logits[1] - log_sum_;
  token.time_stamp_lead = time_stamp_lead_;
  token.margin = std::min(std::abs(time_stamp_lead_), logits[0] - logits[1]);
  return token;
}

TokenSampler::TokenSampler(const Kernels& kernels, const TokenDistribution& distribution)
    : kernels_(kernels), distribution_(distribution) {
  blocks_.reserve((size_of(distribution.text()) + size_of(distribution.time_stamps())) / kBlock + 2);
  add_blocks(distribution.text());
  add_blocks(distribution.time_stamps());
}

void TokenSampler::add_blocks(TokenRange range) {
  Exponentials values;
  for (TokenId begin = range.begin; begin < range.end; begin += kBlock) {
    const TokenRange tokens{begin, std::min(begin + kBlock, range.end)};
    kernels_.exponentials(distribution_.logits().data() + begin, size_of(tokens), distribution_.largest(),
                          values.data());
    const double before = blocks_.empty() ? 0.0 : blocks_.back().sum;
    blocks_.push_back({tokens, before + sum_of(values, size_of(tokens))});
  }
}

TokenSampler::Drawn TokenSampler::find(const Block& block, double before, double target) const {
  Exponentials values;
  kernels_.exponentials(distribution_.logits().data() + block.tokens.begin, size_of(block.tokens),
                        distribution_.largest(), values.data());
  // Rounding may leave the target slightly above the last sum.
  Drawn last{distribution_.most_likely(), 0.0f};
  const double whole = blocks_.back().sum;
  for (std::size_t i = 0; i < size_of(block.tokens); ++i) {
    if (!(values[i] > 0.0f)) continue;
    const double after = before + static_cast<double>(values[i]);
    last.id = block.tokens.begin + static_cast<TokenId>(i);
    last.margin =
        std::min(nats_to_border(before / whole, target / whole), nats_to_border(after / whole, target / whole));
    before = after;
    if (before >= target) break;
  }
  return last;
}

// Consumes as many random numbers as std::discrete_distribution does.
TokenSampler::Drawn TokenSampler::draw_with_margin(std::mt19937& random) const {
  const double part = std::generate_canonical<double, std::numeric_limits<double>::digits>(random);
  if (blocks_.empty()) return {distribution_.most_likely(), 0.0f};
  const double target = part * blocks_.back().sum;
  double before = 0.0;
  for (const Block& block : blocks_) {
    if (block.sum >= target && block.sum > before) return find(block, before, target);
    before = block.sum;
  }
  return {distribution_.most_likely(), 0.0f};
}

}  // namespace verbatim::whisper
