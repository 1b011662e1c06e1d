#include "transformer/cpu/graph.h"

#include "error.h"

namespace verbatim::transformer {
namespace {

[[noreturn]] void out_of_memory() {
  throw EngineError(ErrorCode::kOutOfMemory, "no memory for the transformer's graph");
}

bool is_aborted(void* flag) { return flag && static_cast<const AbortFlag*>(flag)->is_set(); }

}  // namespace

CpuGraph::CpuGraph(std::size_t width, std::size_t capacity) : capacity_(capacity) {
  constexpr std::size_t kMostNodes = 8192;
  const std::size_t bytes = ggml_tensor_overhead() * kMostNodes + ggml_graph_overhead_custom(kMostNodes, false);
  context_.reset(ggml_init({bytes, nullptr, true}));
  memory_.reset(ggml_gallocr_new(ggml_backend_cpu_buffer_type()));
  if (!context_ || !memory_) out_of_memory();
  nodes_ = ggml_new_graph_custom(context_.get(), kMostNodes, false);
  input_ = ggml_new_tensor_2d(context_.get(), GGML_TYPE_F32, static_cast<std::int64_t>(width),
                              static_cast<std::int64_t>(capacity));
  ggml_set_input(input_);
}

void CpuGraph::finish(std::unique_ptr<CpuOps> ops, const std::vector<ggml_tensor*>& outputs) {
  ops_ = std::move(ops);
  for (ggml_tensor* output : outputs) {
    ggml_set_output(output);
    ggml_build_forward_expand(nodes_, output);
  }
  if (!ggml_gallocr_alloc_graph(memory_.get(), nodes_)) out_of_memory();
}

std::size_t CpuGraph::memory_bytes() const noexcept {
  return memory_ ? ggml_gallocr_get_buffer_size(memory_.get(), 0) : 0;
}

CpuThreads::CpuThreads() : backend_(ggml_backend_cpu_init()) {
  if (!backend_) out_of_memory();
}

void CpuThreads::compute(const CpuGraph& graph, int threads, const AbortFlag* abort) {
  ggml_backend_cpu_set_n_threads(backend_.get(), threads);
  ggml_backend_cpu_set_abort_callback(backend_.get(), is_aborted, const_cast<AbortFlag*>(abort));
  const ggml_status status = ggml_backend_graph_compute(backend_.get(), graph.nodes());
  if (status == GGML_STATUS_ABORTED) throw EngineError(ErrorCode::kAborted, "the computation was aborted");
  if (status == GGML_STATUS_ALLOC_FAILED) out_of_memory();
  if (status != GGML_STATUS_SUCCESS) throw EngineError(ErrorCode::kInternalError, "ggml could not run the graph");
}

}  // namespace verbatim::transformer
