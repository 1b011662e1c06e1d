// Which products are the fastest? Measures those of a model of OPUS-MT's shape by the rows of a batch, and those of
// Whisper's encoder, on one thread: the executor's kernels in float32 and int8 against oneDNN in float32 and
// bfloat16, with weights packed once and the conversion of activations included. They take turns. Reports medians of
// processor time, in billions of multiply-adds per second. Only in builds with oneDNN.
//
//   product_bench [--rounds 7] [--rows 8,32,128,800,375,1500] [--kernels avx512|avx-vnni|avx2|generic]
#include <array>
#include <cstdio>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "accelerator/onednn/matmul.h"
#include "accelerator/onednn/weight_store.h"
#include "accelerator/onednn/workspace.h"
#include "measure.h"
#include "options.h"
#include "program.h"
#include "speech/random_models/noise.h"
#include "transformer/cpu/packed_matrix.h"
#include "transformer/kernels/kernels.h"

namespace {

using namespace verbatim;
using namespace verbatim::bench;
using namespace verbatim::transformer;

struct Size {
  std::size_t rows, depth, outputs;
};

// A product of the executor in one of its types.
class Executor {
 public:
  Executor(const Kernels& kernels, const Size& size, const MatrixView& weights, ComputeType type)
      : kernels_(kernels),
        size_(size),
        memory_(PackedMatrix::bytes(weights, type)),
        matrix_(weights, type, memory_),
        quantized_(size.rows * quantized_row_bytes(size.depth)) {}

  void multiply(const std::vector<float>& x, std::vector<float>& y) {
    const bool int8 = matrix_.type() == ComputeType::kInt8;
    GemmCall call;
    matrix_.prepare(call);
    for (std::size_t i = 0; int8 && i < size_.rows; ++i) {
      kernels_.quantize_row(x.data() + i * size_.depth, size_.depth, true,
                            quantized_.data() + i * quantized_row_bytes(size_.depth));
    }
    call.x = int8 ? static_cast<const void*>(quantized_.data()) : x.data();
    call.rows = size_.rows;
    call.last_panel = matrix_.panels();
    call.y = y.data();
    call.ld = size_.outputs;
    (int8 ? kernels_.gemm_int8 : kernels_.gemm_float32)(call);
  }

 private:
  const Kernels& kernels_;
  Size size_;
  WeightMemory memory_;
  PackedMatrix matrix_;
  std::vector<std::int8_t> quantized_;
};

// A product of oneDNN with weights that it packed.
class Accelerated {
 public:
  Accelerated(const Size& size, std::vector<float> weights, accelerator::DataType type)
      : size_(size), type_(type), cache_(accelerator::cpu_engine()), stream_(accelerator::cpu_engine()) {
    const accelerator::ThreadCount one(1);
    const auto rows = static_cast<std::int64_t>(size.rows);
    const auto depth = static_cast<std::int64_t>(size.depth);
    const auto outputs = static_cast<std::int64_t>(size.outputs);
    const auto& engine = accelerator::cpu_engine();
    accelerator::MatmulShape shape;
    shape.rows = rows;
    shape.columns = outputs;
    shape.depth = depth;
    shape.type = type;
    matmul_ = cache_.get(shape);
    const auto layout = accelerator::packed_layout(engine, outputs, depth, type);
    dnnl::memory plain({{depth, outputs}, accelerator::DataType::f32, dnnl::memory::format_tag::ba}, engine,
                       weights.data());
    packed_ = dnnl::memory(layout, engine);
    dnnl::reorder(plain, packed_).execute(stream_, plain, packed_);
    stream_.wait();
  }

  void multiply(const std::vector<float>& x, std::vector<float>& y) {
    const accelerator::ThreadCount one(1);
    const auto& engine = accelerator::cpu_engine();
    void* const left = left_.reserve(x.size() * accelerator::operand_bytes(type_));
    accelerator::to_operands(0 /* GGML_TYPE_F32 */, x.data(), type_, left, static_cast<std::int64_t>(x.size()),
                             nullptr);
    const auto scratch = matmul_.description.scratchpad_desc();
    matmul_.primitive.execute(stream_,
                              {{DNNL_ARG_SRC, {matmul_.description.src_desc(), engine, left}},
                               {DNNL_ARG_WEIGHTS, packed_},
                               {DNNL_ARG_DST, {matmul_.description.dst_desc(), engine, y.data()}},
                               {DNNL_ARG_SCRATCHPAD, {scratch, engine, scratch_.reserve(scratch.get_size())}}});
    stream_.wait();
  }

 private:
  Size size_;
  accelerator::DataType type_;
  accelerator::MatmulCache cache_;
  dnnl::stream stream_;
  accelerator::Matmul matmul_;
  dnnl::memory packed_;
  accelerator::Buffer left_, scratch_;
};

void measure(const Kernels& variant, const Size& size, int rounds) {
  const std::vector<float> weights = random_models::noise(size.outputs * size.depth, 3);
  const std::vector<float> x = random_models::noise(size.rows * size.depth, 3);
  std::vector<float> y(size.rows * size.outputs);
  MatrixView view;
  view.rows = size.outputs;
  view.columns = size.depth;
  view.data = std::as_bytes(std::span(weights));
  Executor float32(variant, size, view, ComputeType::kFloat32), int8(variant, size, view, ComputeType::kInt8);
  Accelerated onednn(size, weights, accelerator::DataType::f32), bfloat16(size, weights, accelerator::fastest_type());
  const std::array<std::function<void()>, 4> contestants{[&] { float32.multiply(x, y); }, [&] { int8.multiply(x, y); },
                                                         [&] { onednn.multiply(x, y); },
                                                         [&] { bfloat16.multiply(x, y); }};
  const double products = static_cast<double>(size.rows) * static_cast<double>(size.depth * size.outputs);
  // Enough repeats for the clock of processor time.
  const int repeats = static_cast<int>(2e9 / products) + 1;
  std::array<std::vector<double>, 4> rates;
  for (int round = -1; round < rounds; ++round) {
    for (std::size_t i = 0; i < contestants.size(); ++i) {
      const Cost cost = cost_of([&] {
        for (int repeat = 0; repeat < repeats; ++repeat) contestants[i]();
      });
      if (round >= 0) rates[i].push_back(products * repeats / cost.cpu_ms / 1e6);
    }
  }
  std::printf("| %zu | %zu x %zu | %.0f | %.0f | %.0f | %.0f |\n", size.rows, size.depth, size.outputs,
              median(rates[0]), median(rates[2]), median(rates[1]), median(rates[3]));
  std::fflush(stdout);
}

// 375 and 1500 rows are the encoder's, of 7.5 and 30 s of audio.
std::vector<Size> sizes_of(std::size_t rows) {
  if (rows != 375 && rows != 1500) {
    std::vector<Size> sizes{{rows, 512, 512}, {rows, 512, 2048}};
    if (rows <= 128) sizes.push_back({rows, 512, 58000});
    return sizes;
  }
  return {{rows, 512, 512},  {rows, 1280, 512}, {rows, 2048, 512},
          {rows, 5120, 512}, {rows, 512, 2048}, {rows, 1280, 5120}};
}

void run(const std::vector<std::string>& words) {
  const Options options(
      {.defaults = {{"--rounds", "7"}, {"--rows", "8,32,128,800,375,1500"}, {"--kernels", kernels().name}}}, words);
  const int rounds = integer(options["--rounds"], 1);
  const Kernels& variant = kernels_of(options["--kernels"]);
  std::printf(
      "| rows | depth x outputs | executor float32 | oneDNN float32 | executor int8 | oneDNN bfloat16 |\n"
      "|--:|--:|--:|--:|--:|--:|\n");
  for (const int rows : positive_integers(options["--rows"])) {
    for (const Size& size : sizes_of(static_cast<std::size_t>(rows))) measure(variant, size, rounds);
  }
}

}  // namespace

int main(int count, char** values) {
  sleep_while_waiting(values);
  return run_program(count, values, run);
}
