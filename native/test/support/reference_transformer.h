#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "testing/random_ct2_model.h"

namespace verbatim::translation {

// A transformer in double precision, recomputed from scratch for every token from the named variables. Slow, simple,
// and independent of the executors.
class ReferenceTransformer {
 public:
  using Row = std::vector<double>;
  using Rows = std::vector<Row>;

  ReferenceTransformer(const RandomModel& shape, Ct2Writer& variables) : shape_(shape), variables_(variables) {}

  Rows encode(const std::vector<int>& ids) {
    return stack("encoder", shape_.encoder_layers, embed("encoder", "embeddings_0", ids, false), nullptr);
  }

  // Logits behind the last of `ids`, which begin with the start token.
  Row logits(const Rows& encoded, const std::vector<int>& ids) {
    Row last = stack("decoder", shape_.decoder_layers, embed("decoder", "embeddings", ids, shape_.zero_start), &encoded)
                   .back();
    for (double& value : last) value *= shape_.scale_outputs;
    const std::string weight = shape_.tied ? "decoder/embeddings/weight" : "decoder/projection/weight";
    Row out = times(weight, last);
    add(out, values("decoder/projection/bias"));
    return out;
  }

 private:
  std::vector<float> values(const std::string& name) {
    const std::string& data = variables_.variables().at(name).data;
    std::vector<float> result(data.size() / sizeof(float));
    std::memcpy(result.data(), data.data(), data.size());
    return result;
  }
  bool has(const std::string& name) { return variables_.variables().contains(name); }

  template <typename Other>
  static void add(Row& row, const Other& other) {
    for (std::size_t i = 0; i < row.size(); ++i) row[i] += other[i];
  }

  Row times(const std::string& weight, const Row& x) {
    const std::vector<float> matrix = values(weight);
    Row out(matrix.size() / x.size());
    for (std::size_t i = 0; i < out.size(); ++i) {
      for (std::size_t k = 0; k < x.size(); ++k) out[i] += static_cast<double>(matrix[i * x.size() + k]) * x[k];
    }
    return out;
  }

  Row linear(const std::string& name, const Row& x) {
    Row out = times(name + "/weight", x);
    add(out, values(name + "/bias"));
    return out;
  }

  Row norm(const std::string& name, const Row& x) {
    const bool is_rms = !has(name + "/beta");
    double mean = 0.0, square = 0.0;
    for (const double value : x) mean += value / static_cast<double>(x.size());
    if (is_rms) mean = 0.0;
    for (const double value : x) square += (value - mean) * (value - mean) / static_cast<double>(x.size());
    const std::vector<float> gamma = values(name + "/gamma");
    Row out(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
      out[i] = (x[i] - mean) / std::sqrt(square + (is_rms ? 1e-6 : 1e-5)) * gamma[i];
    }
    if (!is_rms) add(out, values(name + "/beta"));
    return out;
  }

  Rows norms(const std::string& name, Rows rows, bool wanted = true) {
    if (wanted) {
      for (Row& row : rows) row = norm(name, row);
    }
    return rows;
  }

  Rows embed(const std::string& scope, const std::string& table, const std::vector<int>& ids, bool zero_start) {
    const std::vector<float> rows = values(scope + "/" + table + "/weight");
    const double scale = shape_.scale_embeddings ? std::sqrt(static_cast<double>(shape_.width)) : 1.0;
    Rows out(ids.size(), Row(shape_.width));
    for (std::size_t i = 0; i < ids.size(); ++i) {
      for (std::size_t j = 0; j < shape_.width; ++j) {
        const double token = rows[static_cast<std::size_t>(ids[i]) * shape_.width + j] * scale;
        out[i][j] = (i == 0 && zero_start ? 0.0 : token) + position(scope, i, j);
      }
    }
    return norms(scope + "/layernorm_embedding", out, shape_.embeddings_norm);
  }

  double position(const std::string& scope, std::size_t i, std::size_t j) {
    if (shape_.positions > 0) return values(scope + "/position_encodings/encodings")[i * shape_.width + j];
    if (shape_.relative > 0) return 0.0;
    const std::size_t half = shape_.width / 2;
    const double angle = static_cast<double>(i + 1) *
                         std::pow(10000.0, -static_cast<double>(j % half) / (static_cast<double>(half) - 1.0));
    return j < half ? std::sin(angle) : std::cos(angle);
  }

  double activation(double x) const {
    switch (shape_.activation) {
      case 0:
        return std::max(x, 0.0);
      case 1:
        return 0.5 * x * (1.0 + std::tanh(std::sqrt(2.0 / M_PI) * (x + 0.044715 * x * x * x)));
      case 2:
        return x / (1.0 + std::exp(-x));
      case 3:
        return 0.5 * x * (1.0 + std::erf(x / std::sqrt(2.0)));
      case 4:
        return x / (1.0 + std::exp(-1.702 * x));
      case 5:
        return std::tanh(x);
      default:
        return 1.0 / (1.0 + std::exp(-x));
    }
  }

  // One query position against keys and values [2 * width] at `offset` of each row.
  Row attend(const Row& query, const Rows& keys, std::size_t offset, std::size_t count, std::size_t position,
             const std::string& relative) {
    const std::size_t size = shape_.width / shape_.heads;
    const auto relation = [&](const char* part, std::size_t j, std::size_t k) -> double {
      if (relative.empty()) return 0.0;
      const int furthest = static_cast<int>(shape_.relative);
      const int row = std::clamp(static_cast<int>(j) - static_cast<int>(position), -furthest, furthest) + furthest;
      return values(relative + part)[static_cast<std::size_t>(row) * size + k];
    };
    Row out(shape_.width);
    for (std::size_t head = 0; head < shape_.heads; ++head) {
      Row scores(count);
      for (std::size_t j = 0; j < count; ++j) {
        for (std::size_t k = 0; k < size; ++k) {
          const double key = keys[j][offset + head * size + k] + relation("/relative_position_keys", j, k);
          scores[j] += query[head * size + k] * key / std::sqrt(static_cast<double>(size));
        }
      }
      const double peak = *std::ranges::max_element(scores);
      double total = 0.0;
      for (double& score : scores) total += score = std::exp(score - peak);
      for (std::size_t j = 0; j < count; ++j) {
        for (std::size_t k = 0; k < size; ++k) {
          const double value =
              keys[j][offset + shape_.width + head * size + k] + relation("/relative_position_values", j, k);
          out[head * size + k] += scores[j] / total * value;
        }
      }
    }
    return out;
  }

  Rows self_attention(const std::string& name, const Rows& x, bool is_causal) {
    Rows qkv, out;
    for (const Row& row : x) qkv.push_back(linear(name + "/linear_0", row));
    for (std::size_t i = 0; i < x.size(); ++i) {
      const std::size_t count = is_causal ? i + 1 : x.size();
      out.push_back(
          linear(name + "/linear_1", attend(qkv[i], qkv, shape_.width, count, i, shape_.relative > 0 ? name : "")));
    }
    return out;
  }

  Rows cross_attention(const std::string& name, const Rows& x, const Rows& encoded) {
    Rows keys, out;
    for (const Row& row : encoded) keys.push_back(linear(name + "/linear_1", row));
    for (const Row& row : x) {
      out.push_back(linear(name + "/linear_2", attend(linear(name + "/linear_0", row), keys, 0, keys.size(), 0, "")));
    }
    return out;
  }

  Rows feed_forward(const std::string& name, const Rows& x) {
    Rows out;
    for (const Row& row : x) {
      Row inner = linear(name + "/linear_0", row);
      for (double& value : inner) value = activation(value);
      if (shape_.gated) {
        const Row gate = linear(name + "/linear_0_noact", row);
        for (std::size_t i = 0; i < inner.size(); ++i) inner[i] *= gate[i];
      }
      out.push_back(linear(name + "/linear_1", inner));
    }
    return out;
  }

  template <typename Block>
  Rows residual(const std::string& name, const Rows& x, Block block) {
    Rows out = block(norms(name + "/layer_norm", x, shape_.pre_norm));
    for (std::size_t i = 0; i < x.size(); ++i) add(out[i], x[i]);
    return norms(name + "/layer_norm", out, !shape_.pre_norm);
  }

  Rows stack(const std::string& scope, std::uint32_t layers, Rows x, const Rows* encoded) {
    for (std::uint32_t i = 0; i < layers; ++i) {
      const std::string layer = scope + "/layer_" + std::to_string(i);
      x = residual(layer + "/self_attention", x,
                   [&](const Rows& h) { return self_attention(layer + "/self_attention", h, encoded != nullptr); });
      if (encoded) {
        x = residual(layer + "/attention", x,
                     [&](const Rows& h) { return cross_attention(layer + "/attention", h, *encoded); });
      }
      x = residual(layer + "/ffn", x, [&](const Rows& h) { return feed_forward(layer + "/ffn", h); });
    }
    return norms(scope + "/layer_norm", x, shape_.pre_norm);
  }

  RandomModel shape_;
  Ct2Writer& variables_;
};

}  // namespace verbatim::translation
