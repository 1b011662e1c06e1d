// The accelerator as a ggml backend device.
#include <ggml-impl.h>

#include <cstring>
#include <exception>
#include <tuple>
#include <utility>

#include "accelerator/accelerator.h"
#include "accelerator/backend_device.h"
#include "accelerator/onednn/attention.h"
#include "accelerator/onednn/plain_weights.h"
#include "accelerator/onednn/product.h"
#include "accelerator/onednn/workspace.h"

namespace verbatim::accelerator {
namespace {

// The store for states that this thread is making.
thread_local std::shared_ptr<WeightStore> store_in_scope;
// A product with a weight was accepted within the scope.
thread_local bool took_weights_in_scope = false;

const char* const kName = "oneDNN";

bool is_no_operation(ggml_op op) {
  return op == GGML_OP_NONE || op == GGML_OP_RESHAPE || op == GGML_OP_VIEW || op == GGML_OP_PERMUTE ||
         op == GGML_OP_TRANSPOSE;
}

Workspace& workspace_of(ggml_backend_t backend) { return *static_cast<Workspace*>(backend->context); }

// Whether the nodes from `index` on are a product, its bias and GELU, and the product and bias of that result alone.
bool is_feed_forward(const ggml_cgraph* graph, int index) {
  static constexpr ggml_op kOps[] = {GGML_OP_MUL_MAT, GGML_OP_ADD, GGML_OP_UNARY};
  if (!ggml_can_fuse(graph, index, kOps, 3) || !takes_gelu(*graph->nodes[index + 2]) ||
      !ggml_node_has_n_uses(graph, index + 2, 1) || !ggml_can_fuse(graph, index + 3, kOps, 2)) {
    return false;
  }
  return graph->nodes[index + 3]->src[1] == graph->nodes[index + 2] && takes_bias(*graph->nodes[index + 4]);
}

// Computes the product at `index` with the nodes that can be fused; returns the number of nodes.
int compute_fused(Workspace& workspace, const ggml_cgraph* graph, int index) {
  static constexpr ggml_op kOps[] = {GGML_OP_MUL_MAT, GGML_OP_ADD, GGML_OP_UNARY};
  const ggml_tensor& product = *graph->nodes[index];
  if (is_feed_forward(graph, index)) {
    const ggml_tensor& sum = *graph->nodes[index + 4];
    compute_feed_forward(workspace, product, *graph->nodes[index + 1]->src[1], *graph->nodes[index + 3], *sum.src[1],
                         sum);
    return 5;
  }
  if (!ggml_can_fuse(graph, index, kOps, 2) || !takes_bias(*graph->nodes[index + 1])) {
    compute_product(workspace, product, nullptr, false, product);
    return 1;
  }
  const ggml_tensor& sum = *graph->nodes[index + 1];
  const bool gelu = ggml_can_fuse(graph, index, kOps, 3) && takes_gelu(*graph->nodes[index + 2]);
  compute_product(workspace, product, sum.src[1], gelu, gelu ? *graph->nodes[index + 2] : sum);
  return gelu ? 3 : 2;
}

// Computes one node, or as many as are fused; returns their number.
int compute_node(Workspace& workspace, const ggml_cgraph* graph, int index) {
  const ggml_tensor& node = *graph->nodes[index];
  if ((node.flags & GGML_TENSOR_FLAG_COMPUTE) == 0 || is_no_operation(node.op)) return 1;
  if (node.op == GGML_OP_MUL_MAT) return compute_fused(workspace, graph, index);
  if (node.op == GGML_OP_FLASH_ATTN_EXT) compute_attention(workspace, node);
  if (node.op == GGML_OP_ADD) compute_bias(node);
  if (node.op == GGML_OP_UNARY) compute_gelu(node);
  return 1;
}

ggml_status compute(ggml_backend_t backend, ggml_cgraph* graph) {
  Workspace& workspace = workspace_of(backend);
  const ThreadCount threads(workspace.threads);
  try {
    for (int i = 0; i < graph->n_nodes;) i += compute_node(workspace, graph, i);
    return GGML_STATUS_SUCCESS;
  } catch (const std::bad_alloc&) {
    return GGML_STATUS_ALLOC_FAILED;
  } catch (const std::exception& error) {
    GGML_LOG_ERROR("%s: %s\n", kName, error.what());
    return GGML_STATUS_FAILED;
  }
}

ggml_guid_t guid() {
  static ggml_guid id = {0x76, 0x62, 0x6d, 0x5f, 0x6f, 0x6e, 0x65, 0x64,
                         0x6e, 0x6e, 0x5f, 0x61, 0x63, 0x63, 0x65, 0x6c};
  return &id;
}

void free_backend(ggml_backend_t backend) {
  const std::unique_ptr<ggml_backend> shell(backend);
  const std::unique_ptr<Workspace> workspace(static_cast<Workspace*>(backend->context));
}

ggml_backend_t make_backend_on(std::shared_ptr<WeightStore> store, ggml_backend_dev_t backend_device) {
  try {
    auto workspace = std::make_unique<Workspace>(std::move(store));
    auto backend = std::make_unique<ggml_backend>();
    backend->guid = guid();
    backend->iface.get_name = [](ggml_backend_t) { return kName; };
    backend->iface.free = free_backend;
    backend->iface.graph_compute = compute;
    backend->device = backend_device;
    backend->context = workspace.release();
    return backend.release();
  } catch (const std::exception& error) {
    GGML_LOG_ERROR("%s: %s\n", kName, error.what());
    return nullptr;
  }
}

// whisper.cpp continues without a backend that is null.
ggml_backend_t make_backend_in_scope(ggml_backend_dev_t backend_device) {
  return store_in_scope ? make_backend_on(store_in_scope, backend_device) : nullptr;
}

void set_threads(ggml_backend_t backend, int threads) { workspace_of(backend).threads = threads; }

void* get_proc_address(const char* name) {
  return std::strcmp(name, "ggml_backend_set_n_threads") == 0 ? reinterpret_cast<void*>(set_threads) : nullptr;
}

bool supports(const ggml_tensor& node) {
  if (takes_weight_product(node)) took_weights_in_scope = true;
  return is_no_operation(node.op) || takes_product(node) || takes_bias(node) || takes_gelu(node) ||
         takes_attention(node);
}

}  // namespace

std::string name(const WeightStore* store) {
  if (store == nullptr) return {};
  return store->type() == DataType::bf16 ? "onednn bfloat16" : "onednn float32";
}

std::size_t operand_size(const WeightStore* store) noexcept {
  return store == nullptr ? 0 : operand_bytes(store->type());
}

void register_backend_device() {
  static BackendDevice backend_device(
      {kName, "oneAPI Deep Neural Network Library", make_backend_in_scope, supports, get_proc_address});
  static const bool is_wrapped = (wrap_extra_buffer_types(), true);
  std::ignore = is_wrapped;
}

// The feed-forward block's activations, one set of a window's keys or values, and each lane's block of scores.
std::size_t workspace_bytes(const WeightStore* store, std::size_t state, int threads) noexcept {
  if (store == nullptr) return 0;
  constexpr std::size_t kPositions = 1536;
  constexpr std::size_t kScores = 128 * kPositions;
  const std::size_t size = operand_size(store);
  return 5 * kPositions * state * size + static_cast<std::size_t>(threads) * kScores * (sizeof(float) + size);
}

std::shared_ptr<WeightStore> make_weight_store(AcceleratorMode accelerator) {
  register_backend_device();
  if (accelerator == AcceleratorMode::kOff) return nullptr;
  return std::make_shared<WeightStore>(accelerator == AcceleratorMode::kFloat32 ? DataType::f32 : fastest_type());
}

std::size_t packed_bytes(const WeightStore* store) noexcept { return store == nullptr ? 0 : store->bytes(); }

std::uint64_t computed_products(const WeightStore* store) noexcept { return store == nullptr ? 0 : store->products(); }

StateScope::StateScope(std::shared_ptr<WeightStore> store) {
  store_in_scope = std::move(store);
  took_weights_in_scope = false;
}
StateScope::~StateScope() { store_in_scope.reset(); }
bool StateScope::took_weights() const noexcept { return took_weights_in_scope; }

}  // namespace verbatim::accelerator
