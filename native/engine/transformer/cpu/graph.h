#pragma once

#include <ggml-cpp.h>
#include <ggml-cpu.h>
#include <ggml.h>

#include <cstddef>
#include <memory>
#include <vector>

#include "abort.h"
#include "transformer/cpu/ops.h"

namespace verbatim::transformer {

// A graph of CPU nodes with the input float32[width, capacity]. Every failed allocation is an EngineError kOutOfMemory.
class CpuGraph {
 public:
  CpuGraph() = default;
  CpuGraph(std::size_t width, std::size_t capacity);

  // Most rows; 0: no graph is built.
  std::size_t capacity() const noexcept { return capacity_; }
  ggml_context* context() const noexcept { return context_.get(); }
  ggml_tensor* input() const noexcept { return input_; }
  ggml_cgraph* nodes() const noexcept { return nodes_; }
  // The input rows, to be filled in before compute().
  float* input_rows() const noexcept { return static_cast<float*>(input_->data); }
  std::size_t memory_bytes() const noexcept;

  // Sets `outputs` as the graph's results, which stay readable; `ops` owns their nodes.
  void finish(std::unique_ptr<CpuOps> ops, const std::vector<ggml_tensor*>& outputs);

 private:
  std::size_t capacity_ = 0;
  ggml_context_ptr context_;
  std::unique_ptr<CpuOps> ops_;
  ggml_gallocr_ptr memory_;
  ggml_cgraph* nodes_ = nullptr;
  ggml_tensor* input_ = nullptr;
};

// Threads for graphs; computes one graph at a time.
class CpuThreads {
 public:
  CpuThreads();
  // threads: 1 to 256. `abort` may be null and is polled between nodes. Throws EngineError kAborted, kOutOfMemory,
  // kInternalError.
  void compute(const CpuGraph& graph, int threads, const AbortFlag* abort);

 private:
  ggml_backend_ptr backend_;
};

}  // namespace verbatim::transformer
