#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "transformer/transformer.h"

namespace verbatim::transformer {

// The size to expect of each channel of a residual stream, from the weights that write to it: each contributes the
// squares of its row, as if its inputs had unit size.
class StreamSizes {
 public:
  explicit StreamSizes(std::size_t channels) : squares_(channels, 0.0) {}

  // A layer whose outputs are added to the channels.
  void add(const Linear& writer);
  // A table [rows][channels], one row of which is added to each position.
  void add(std::span<const float> table);
  // How many times the median a channel is, if it is more than four times; else 1.
  std::vector<float> outliers() const;

 private:
  std::vector<double> squares_;
};

}  // namespace verbatim::transformer
