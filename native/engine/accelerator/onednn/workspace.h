#pragma once

#include <omp.h>

#include <dnnl.hpp>
#include <memory>
#include <vector>

#include "accelerator/onednn/buffer.h"
#include "accelerator/onednn/matmul.h"
#include "accelerator/onednn/weight_store.h"

namespace verbatim::accelerator {

// While it lives, oneDNN and this engine's loops on the calling thread use `threads` threads, set through OpenMP.
class ThreadCount {
 public:
  explicit ThreadCount(int threads) : before_(omp_get_max_threads()) { omp_set_num_threads(threads); }
  ~ThreadCount() { omp_set_num_threads(before_); }
  ThreadCount(const ThreadCount&) = delete;
  ThreadCount& operator=(const ThreadCount&) = delete;

 private:
  int before_;
};

// Working memory of one thread of attention.
struct Lane {
  Buffer query, scores, weights, output, scratchpad, floats;
};

// The working memory of one whisper state. One call uses it at a time, so only the store, which states share, is
// guarded.
struct Workspace {
  explicit Workspace(std::shared_ptr<WeightStore> weights)
      : store(std::move(weights)), stream(cpu_engine()), matmuls(cpu_engine()) {}

  std::shared_ptr<WeightStore> store;
  dnnl::stream stream;
  MatmulCache matmuls;
  int threads = 1;
  // Operands of a product, the intermediate result between two products, oneDNN's own scratch memory, and each thread's
  // rows of floats.
  Buffer left, right, inner, scratchpad, floats;
  std::vector<Lane> lanes;
};

}  // namespace verbatim::accelerator
