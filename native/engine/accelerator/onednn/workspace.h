#pragma once

#include <omp.h>

#include <dnnl.hpp>
#include <memory>
#include <vector>

#include "accelerator/onednn/buffer.h"
#include "accelerator/onednn/matmul.h"
#include "accelerator/onednn/weight_store.h"

namespace verbatim::accelerator {

// oneDNN and our own loops take as many threads as OpenMP would give the calling thread.
class ThreadCount {
 public:
  explicit ThreadCount(int threads) : before_(omp_get_max_threads()) { omp_set_num_threads(threads); }
  ~ThreadCount() { omp_set_num_threads(before_); }
  ThreadCount(const ThreadCount&) = delete;
  ThreadCount& operator=(const ThreadCount&) = delete;

 private:
  int before_;
};

// What one thread of attention works in.
struct Lane {
  Buffer query, scores, weights, output, scratchpad, floats;
};

// All that one whisper state needs to compute on: used by one call at a time, so nothing of it is guarded
// but the store, which states share.
struct Workspace {
  explicit Workspace(std::shared_ptr<WeightStore> weights)
      : store(std::move(weights)), stream(cpu_engine()), matmuls(cpu_engine()) {}

  std::shared_ptr<WeightStore> store;
  dnnl::stream stream;
  MatmulCache matmuls;
  int threads = 1;
  // Operands of a product, what lies between two, then oneDNN's own need, then float rows of each thread.
  Buffer left, right, inner, scratchpad, floats;
  std::vector<Lane> lanes;
};

}  // namespace verbatim::accelerator
