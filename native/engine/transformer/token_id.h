#pragma once

#include <cstdint>

namespace verbatim::transformer {

// A row of a model's embeddings.
using TokenId = std::int32_t;

}  // namespace verbatim::transformer
