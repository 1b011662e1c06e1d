#pragma once

#include <cstddef>
#include <memory>

#include "transformer/compute_type.h"
#include "transformer/executor.h"

namespace verbatim::transformer {

// The weights of a model on one device, and the executors that share them. Immutable.
class ExecutorFactory {
 public:
  virtual ~ExecutorFactory() = default;
  // threads: CPU threads of the executor. Throws EngineError kOutOfMemory.
  virtual std::unique_ptr<Executor> create(int threads) const = 0;
  // Bytes of weights.
  virtual std::size_t bytes() const noexcept = 0;
  virtual ComputeType type() const noexcept = 0;
};

}  // namespace verbatim::transformer
