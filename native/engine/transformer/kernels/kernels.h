#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

// The arithmetic of the CPU executor, in one variant per instruction set, chosen at run time. Every output value is
// computed by the same sequence of operations whatever the number of rows. So a sentence gives bit-identical results
// alone and in any batch.
namespace verbatim::transformer {

// Outputs (weight rows) that are side by side in memory. 32 floats are two AVX-512 registers.
inline constexpr std::size_t kPanelOutputs = 32;

// Applied to a product before it is stored: y = activation(product * scales + bias) * gate + residual.
struct Epilogue {
  const float* bias = nullptr;      // [outputs] or null
  int activation = -1;              // a value of Activation, or -1: none
  const float* gate = nullptr;      // [rows, ld], or null
  const float* residual = nullptr;  // [rows, ld], or null
};

// y[rows, ld] = x[rows, depth] * weights^T for the panels [first_panel, last_panel).
struct GemmCall {
  // float variants: float[rows, depth]. int8: quantized rows, see quantize_row.
  const void* x = nullptr;
  std::size_t rows = 0;
  std::size_t depth = 0;
  // Panels: see packed_matrix.h.
  const void* weights = nullptr;
  // int8: 1 / scale of each output.
  const float* weight_factors = nullptr;
  std::size_t outputs = 0;
  std::size_t first_panel = 0;
  std::size_t last_panel = 0;
  float* y = nullptr;
  std::size_t ld = 0;
  Epilogue epilogue;
};

// Bytes of a quantized row: the values, padded with zeros, then the factor (float: real = value * factor) and the sum
// of the values (int32).
constexpr std::size_t quantized_depth(std::size_t depth) { return (depth + 3) / 4 * 4; }
constexpr std::size_t quantized_row_bytes(std::size_t depth) { return quantized_depth(depth) + 8; }

// Floats that `count` probabilities need: whole vectors.
constexpr std::size_t attention_room(std::size_t count) { return (count + 15) / 16 * 16; }

// One query against `count` keys and values. Row i holds its key at rows[i] + key_offset and its value at rows[i] +
// value_offset, in elements.
struct AttendCall {
  const float* query = nullptr;  // [head_size]
  std::size_t head_size = 0;
  // [count], of the kernel's element type.
  const void* const* rows = nullptr;
  std::size_t key_offset = 0;
  std::size_t value_offset = 0;
  std::size_t count = 0;
  // Distance in each row to the next call's data, in elements. It is prefetched, since rows are far apart.
  std::size_t ahead = 0;
  float scale = 1.0f;
  // Relative positions: head_size values per key, or null.
  const float* const* relative_keys = nullptr;
  const float* const* relative_values = nullptr;
  // [attention_room(count)]: scratch and result.
  float* probabilities = nullptr;
  float* out = nullptr;  // [head_size]
};

// Positions whose keys are side by side in a packed source.
inline constexpr std::size_t kCrossBlock = 16;
// A head's size, rounded up, in packed keys and in packed values. The padding holds any finite values.
constexpr std::size_t cross_key_depth(std::size_t head_size) { return (head_size + 3) / 4 * 4; }
constexpr std::size_t cross_value_depth(std::size_t head_size) { return (head_size + 15) / 16 * 16; }
// Bytes of scratch that a query needs.
constexpr std::size_t cross_scratch_bytes(std::size_t head_size, std::size_t count) {
  return 2 * cross_key_depth(head_size) + 2 * attention_room(count);
}

// One query against `count` packed keys and values of one head. Keys are blocks of kCrossBlock positions, in order of
// use: int8 uint8[cross_key_depth / 4][kCrossBlock][4] with 128 added; bfloat16 [cross_key_depth / 2][kCrossBlock][2].
// Values: int8 groups of four positions [cross_value_depth][4]; bfloat16 [cross_value_depth] for each position, padded
// to an even number of positions.
struct PackedAttendCall {
  const float* query = nullptr;  // [head_size]
  std::size_t head_size = 0;
  const void* keys = nullptr;
  const void* values = nullptr;
  // int8: the real value of 1 for each position, bfloat16[attention_room(count)].
  const std::uint16_t* key_scales = nullptr;
  const std::uint16_t* value_scales = nullptr;
  std::size_t count = 0;
  float scale = 1.0f;
  // [attention_room(count)]: scratch and result.
  float* probabilities = nullptr;
  // int8: cross_scratch_bytes().
  std::uint8_t* scratch = nullptr;
  float* out = nullptr;  // [cross_value_depth(head_size)]
};

// out[i] = activation(bias[i] + sum of weights[j][i] * rows[j][i]): one position of a depthwise convolution.
struct MixCall {
  const float* const* rows = nullptr;  // [taps][size]
  const float* weights = nullptr;      // [taps, size]
  std::size_t taps = 0;
  const float* bias = nullptr;  // [size]
  int activation = -1;          // a value of Activation, or -1: none
  std::size_t size = 0;
  float* out = nullptr;  // [size]
};

// out[row] = factors[row] * the sum of the values, weighted by the row's probabilities: 16-bit integers in two bytes.
struct MixValuesCall {
  std::size_t rows = 0;
  std::size_t depth = 0;                        // a multiple of 16
  const std::uint8_t* probabilities = nullptr;  // [rows][2][depth]: the high bytes, then the low bytes
  // Panels of channels: int8 [depth / 4][kPanelOutputs][4].
  const std::int8_t* values = nullptr;
  std::size_t channels = 0;
  const float* scales = nullptr;   // the real value of 1 for each channel, for whole panels
  const float* factors = nullptr;  // [rows]
  float* out = nullptr;            // [rows][ld]
  std::size_t ld = 0;
};

struct Kernels {
  // "avx512", "avx-vnni", "avx2", "neon-i8mm", "neon-dot", "neon", "generic"
  const char* name;
  void (*gemm_float32)(const GemmCall& call);
  void (*gemm_bfloat16)(const GemmCall& call);
  void (*gemm_int8)(const GemmCall& call);
  // Symmetric int8 with scale 127 / max|x| (a row of zeros: 1), as in CTranslate2 on x86: adds 128, then rounds.
  // `round`: to nearest, ties to even; otherwise down.
  void (*quantize_row)(const float* x, std::size_t depth, bool round, std::int8_t* out);
  // beta null: root mean square norm.
  void (*layer_norm)(const float* x, std::size_t size, const float* gamma, const float* beta, float epsilon,
                     float* out);
  void (*attend_float32)(const AttendCall& call);
  void (*attend_bfloat16)(const AttendCall& call);
  // To the nearest bfloat16, ties to even, as float_to_bfloat16() does.
  void (*round_to_bfloat16)(const float* x, std::size_t size, std::uint16_t* out);
  // Nearest integers, ties to even, of x / scale, for a source in int8. Returns the scale: a bfloat16 not below max|x|
  // / 127, so that nothing is clipped.
  std::uint16_t (*quantize_head)(const float* x, std::size_t size, std::int8_t* out);
  void (*attend_packed_int8)(const PackedAttendCall& call);
  void (*attend_packed_bfloat16)(const PackedAttendCall& call);
  // The `k` largest of x[size], descending; among equals the lower index first. k <= size.
  void (*top_k)(const float* x, std::size_t size, std::size_t k, std::int32_t* ids, float* values);
  // log(sum(exp(x))), given the largest value.
  float (*log_sum_exp)(const float* x, std::size_t size, float largest);
  // out[i] = exp(x[i] - largest). Values far below the largest may round to 0.
  void (*exponentials)(const float* x, std::size_t size, float largest, float* out);
  void (*mix_rows)(const MixCall& call);
  // out[i] = x[i] * sigmoid(gate[i])
  void (*gate_row)(const float* x, const float* gate, std::size_t size, float* out);
  // out = softmax((x + y) * scale), [attention_room(size)]: 0 behind `size`.
  void (*softmax_of_sum)(const float* x, const float* y, std::size_t size, float scale, float* out);
  // The numerators of a softmax to the base 2: x[i] = 2^(x[i] - the largest), within 3e-6 of each; x has
  // attention_room(size), and 0 behind `size` afterwards. Returns their sum.
  float (*powers_of_two_float32)(float* x, std::size_t size);
  // The same as integers, 65535 for the largest: the high bytes in out[attention_room(size)], the low bytes behind
  // them. x is overwritten. Returns the sum of the integers.
  float (*powers_of_two_uint16)(float* x, std::size_t size, std::uint8_t* out);
  // Null where the processor has no instruction that multiplies bytes with and without a sign: float32 is faster there.
  void (*mix_values_int8)(const MixValuesCall& call);
};

// The best variant for this processor.
const Kernels& kernels() noexcept;
// All variants for this processor, best first.
std::span<const Kernels* const> available_kernels() noexcept;

}  // namespace verbatim::transformer
