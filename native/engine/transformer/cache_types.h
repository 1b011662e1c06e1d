#pragma once

#include "transformer/compute_type.h"

namespace verbatim::transformer {

// Types in which a decoder keeps keys and values. Each decoder defines which types it supports.
struct CacheTypes {
  ComputeType cross = ComputeType::kFloat32;
  ComputeType history = ComputeType::kFloat32;
};

}  // namespace verbatim::transformer
