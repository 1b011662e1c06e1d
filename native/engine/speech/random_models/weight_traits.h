#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "speech/model_tensors.h"

namespace verbatim::random_models {

// How much larger an outlier channel is than the rest.
inline constexpr float kOutlierRatio = 60.0f;

// Properties of trained transformers that make rounding to few bits harder, and that uniformly random weights lack.
struct WeightTraits {
  // A few channels of the encoder are kOutlierRatio times the rest: behind each norm, in the values of attention, and
  // between the products of a feed-forward block. Behind a norm, the residual stream and the norm's gain each
  // contribute the square root of the ratio. The weights that read such a channel are smaller by the whole ratio, so
  // that the result depends on all channels as before.
  bool outliers = false;
  // Every second head of the encoder's self-attention attends to hardly more than one position.
  bool sharp_heads = false;

  bool operator==(const WeightTraits&) const = default;
};

// Whether a channel is one of the outliers: of the residual stream, of attention's values, of a block's inner values.
constexpr bool is_outlier(std::size_t channel) { return channel % 128 == 37; }
constexpr bool is_sharp(std::size_t head) { return head % 2 == 0; }

// Gives a tensor of a Whisper file these traits. Without a trait the values stay as they are.
void apply_traits(const WeightTraits& traits, const ModelShape& shape, const std::string& name,
                  const TensorShape& tensor, std::span<float> values);

}  // namespace verbatim::random_models
