#pragma once

#include "transformer/compute_type.h"

namespace verbatim::transformer {

// In what a decoder keeps keys and values; which types there are is the decoder's to say.
struct CacheTypes {
  ComputeType cross = ComputeType::kFloat32;
  ComputeType history = ComputeType::kFloat32;
};

}  // namespace verbatim::transformer
