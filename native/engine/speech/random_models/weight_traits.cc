#include "speech/random_models/weight_traits.h"

#include <cmath>

namespace verbatim::random_models {
namespace {

// Queries and keys of a sharp head are multiplied by this, and scores by its square.
constexpr float kSharpness = 8.0f;

// A tensor as rows of outputs. A vector's values are outputs.
struct Rows {
  std::span<float> values;
  std::size_t columns;

  std::size_t count() const { return values.size() / columns; }
  void scale_row(std::size_t row, float factor) {
    for (float& value : values.subspan(row * columns, columns)) value *= factor;
  }
  void scale_outlying_rows(float factor) {
    for (std::size_t row = 0; row < count(); ++row) {
      if (is_outlier(row)) scale_row(row, factor);
    }
  }
  void scale_outlying_columns(float factor) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (is_outlier(i % columns)) values[i] *= factor;
    }
  }
};

bool is_one_of(const std::string& name, std::initializer_list<const char*> ends) {
  for (const char* end : ends) {
    if (name.ends_with(end)) return true;
  }
  return false;
}

// What the outliers of the residual stream add to a norm's deviation.
float widening(std::size_t channels, float ratio) {
  std::size_t outliers = 0;
  for (std::size_t i = 0; i < channels; ++i) outliers += is_outlier(i);
  const auto share = static_cast<float>(outliers) / static_cast<float>(channels);
  return std::sqrt(1.0f - share + share * ratio * ratio);
}

void add_outliers(const std::string& name, const TensorShape& tensor, std::span<float> values) {
  const bool is_bias = name.ends_with(".bias");
  const bool is_norm = is_one_of(name, {"_ln.weight", "_ln.bias", "ln_post.weight", "ln_post.bias"});
  const bool is_vector = is_bias || is_norm;
  const bool is_convolution = name.find("conv") != std::string::npos;
  const auto inputs = static_cast<std::size_t>(tensor.dimensions[0] * (is_convolution ? tensor.dimensions[1] : 1));
  Rows rows{values, is_vector ? 1 : inputs};
  const float half = std::sqrt(kOutlierRatio);
  if (is_norm) {
    rows.scale_outlying_rows(is_bias ? kOutlierRatio : half);
    if (!is_bias) {
      for (float& value : values) value *= widening(values.size(), half);
    }
    return;
  }
  // Writers of the residual stream.
  if (is_one_of(name, {"conv2.weight", "conv2.bias", "attn.out.weight", "attn.out.bias", "mlp.2.weight", "mlp.2.bias"}))
    rows.scale_outlying_rows(half);
  if (name.ends_with("positional_embedding")) rows.scale_outlying_columns(half);
  if (is_one_of(name, {"attn.value.weight", "attn.value.bias", "mlp.0.weight", "mlp.0.bias"}) &&
      name.find("cross_attn") == std::string::npos)
    rows.scale_outlying_rows(kOutlierRatio);
  // Every layer's input has outliers, but for the convolutions'.
  if (!is_vector && !is_convolution && !name.ends_with("positional_embedding"))
    rows.scale_outlying_columns(1.0f / kOutlierRatio);
}

void sharpen_heads(std::int32_t heads, const std::string& name, const TensorShape& tensor, std::span<float> values) {
  Rows rows{values, name.ends_with(".bias") ? 1 : static_cast<std::size_t>(tensor.dimensions[0])};
  const std::size_t size = rows.count() / static_cast<std::size_t>(heads);
  for (std::size_t row = 0; row < rows.count(); ++row) {
    if (is_sharp(row / size)) rows.scale_row(row, kSharpness);
  }
}

}  // namespace

void apply_traits(const WeightTraits& traits, const ModelShape& shape, const std::string& name,
                  const TensorShape& tensor, std::span<float> values) {
  const bool of_encoder = name.starts_with("encoder.");
  const bool reads_encoder = is_one_of(name, {"cross_attn.key.weight", "cross_attn.value.weight"});
  if (traits.outliers && (of_encoder || reads_encoder)) add_outliers(name, tensor, values);
  if (traits.sharp_heads && of_encoder &&
      is_one_of(name, {"attn.query.weight", "attn.query.bias", "attn.key.weight"})) {
    sharpen_heads(shape.audio_heads, name, tensor, values);
  }
}

}  // namespace verbatim::random_models
