#pragma once

#include <cmath>
#include <cstddef>

namespace verbatim::transformer {

// The shape that the attention nodes share.
struct AttentionShape {
  std::size_t width = 0;
  std::size_t heads = 0;
  std::size_t head_size() const { return width / heads; }
  float score_scale() const { return 1.0f / std::sqrt(static_cast<float>(head_size())); }
};

}  // namespace verbatim::transformer
