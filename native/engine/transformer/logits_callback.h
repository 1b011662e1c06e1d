#pragma once

#include <cstddef>
#include <functional>
#include <span>

namespace verbatim::transformer {

// Receives the logits of one row of a step and may change them. Called once for each row, from several threads at a
// time. Must not throw.
using LogitsCallback = std::function<void(std::size_t row, std::span<float> logits)>;

}  // namespace verbatim::transformer
