#pragma once

#include <cstddef>
#include <functional>
#include <span>

namespace verbatim::transformer {

// Takes the logits of one row of a step, which it may change; called once for each row, from several threads
// at a time. Must not throw.
using LogitsVisitor = std::function<void(std::size_t row, std::span<float> logits)>;

}  // namespace verbatim::transformer
