// Products with weights that ggml reorders for this processor as it loads them (CPU_REPACK), and AMX is left to oneDNN.
#include <doctest/doctest.h>
#include <ggml-backend.h>
#include <ggml-cpp.h>
#include <ggml-cpu.h>
#include <ggml.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "speech/random_models/noise.h"
#include "speech/whisper/model/encoder_weights.h"

namespace verbatim {
namespace {

using whisper::GgmlPointer;

constexpr std::int64_t kDepth = 256, kRows = 64, kColumns = 40;

std::vector<ggml_backend_buffer_type_t> repacking_buffer_types() {
  const auto list = reinterpret_cast<ggml_backend_dev_get_extra_bufts_t>(
      ggml_backend_reg_get_proc_address(ggml_backend_cpu_reg(), "ggml_backend_dev_get_extra_bufts"));
  std::vector<ggml_backend_buffer_type_t> types;
  if (list == nullptr) return types;
  ggml_backend_buffer_type_t* type = list(ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU));
  for (; type != nullptr && *type != nullptr; ++type) types.push_back(*type);
  return types;
}

GgmlPointer<ggml_context> make_context() {
  return GgmlPointer<ggml_context>(ggml_init({16 * ggml_tensor_overhead() + ggml_graph_overhead(), nullptr, true}));
}

// The product of the same random values with weights in such buffers; empty where they do not serve the type.
std::vector<float> product(ggml_type type, ggml_backend_buffer_type_t weight_buffers) {
  const GgmlPointer<ggml_context> weights = make_context();
  ggml_tensor* const weight = ggml_new_tensor_2d(weights.get(), type, kDepth, kRows);
  const GgmlPointer<ggml_backend_buffer> weight_buffer(
      ggml_backend_alloc_ctx_tensors_from_buft(weights.get(), weight_buffers));
  ggml_backend_buffer_set_usage(weight_buffer.get(), GGML_BACKEND_BUFFER_USAGE_WEIGHTS);
  const GgmlPointer<ggml_context> context = make_context();
  ggml_tensor* const input = ggml_new_tensor_2d(context.get(), GGML_TYPE_F32, kDepth, kColumns);
  ggml_tensor* const output = ggml_mul_mat(context.get(), weight, input);
  if (!ggml_backend_dev_supports_op(ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU), output)) return {};
  ggml_cgraph* const graph = ggml_new_graph(context.get());
  ggml_build_forward_expand(graph, output);
  const ggml_backend_ptr backend(ggml_backend_cpu_init());
  const GgmlPointer<ggml_backend_buffer> buffer(ggml_backend_alloc_ctx_tensors(context.get(), backend.get()));

  const std::vector<float> values = random_models::noise(kDepth * kRows, 1);
  std::vector<std::byte> stored(ggml_nbytes(weight));
  ggml_quantize_chunk(type, values.data(), stored.data(), 0, kRows, kDepth, nullptr);
  ggml_backend_tensor_set(weight, stored.data(), 0, stored.size());
  const std::vector<float> inputs = random_models::noise(kDepth * kColumns, 2);
  ggml_backend_tensor_set(input, inputs.data(), 0, ggml_nbytes(input));
  ggml_backend_cpu_set_n_threads(backend.get(), 1);
  REQUIRE(ggml_backend_graph_compute(backend.get(), graph) == GGML_STATUS_SUCCESS);
  std::vector<float> products(kRows * kColumns);
  ggml_backend_tensor_get(output, products.data(), 0, ggml_nbytes(output));
  return products;
}

double relative_distance(const std::vector<float>& a, const std::vector<float>& b) {
  double difference = 0;
  double norm = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    difference += std::pow(a[i] - b[i], 2);
    norm += std::pow(b[i], 2);
  }
  return std::sqrt(difference / norm);
}

// A thread configures the AMX tiles before its first product. GCC left most of that configuration unwritten.
TEST_CASE("a product with weights that ggml repacks is that with plain weights, on a thread of its own") {
  int computed = 0;
  for (ggml_backend_buffer_type_t const buffers : repacking_buffer_types()) {
    for (const ggml_type type : {GGML_TYPE_F16, GGML_TYPE_Q4_0, GGML_TYPE_Q4_1, GGML_TYPE_Q8_0, GGML_TYPE_Q4_K,
                                 GGML_TYPE_Q5_K, GGML_TYPE_Q6_K}) {
      CAPTURE(std::string(ggml_backend_buft_name(buffers)));
      CAPTURE(std::string(ggml_type_name(type)));
      std::vector<float> repacked;
      std::thread([&] { repacked = product(type, buffers); }).join();
      if (repacked.empty()) continue;
      ++computed;
      CHECK(relative_distance(repacked, product(type, ggml_backend_cpu_buffer_type())) < 0.01);
    }
  }
  // q4_0 is repacked on every processor that is served.
  CHECK(computed > 0);
}

}  // namespace
}  // namespace verbatim
