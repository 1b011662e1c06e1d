#include "speech/whisper/model/encoder_weights.h"

#include <ggml-cpu.h>

#include <cstdint>
#include <cstring>
#include <exception>
#include <new>
#include <span>
#include <string>
#include <system_error>
#include <utility>

#include "error.h"
#include "transformer/gpu/device_errors.h"

namespace verbatim::whisper {
namespace {

GgmlPointer<ggml_context> make_context(std::size_t tensors) {
  GgmlPointer<ggml_context> context(ggml_init({tensors * ggml_tensor_overhead(), nullptr, true}));
  if (!context) throw EngineError(ErrorCode::kOutOfMemory, "no memory for the encoder's weights");
  return context;
}

GgmlPointer<ggml_backend_buffer> allocate(ggml_context* context, ggml_backend_buffer_type_t type) {
  GgmlPointer<ggml_backend_buffer> buffer(ggml_backend_alloc_ctx_tensors_from_buft(context, type));
  if (!buffer) throw EngineError(ErrorCode::kOutOfMemory, "no memory for the encoder's weights");
  ggml_backend_buffer_set_usage(buffer.get(), GGML_BACKEND_BUFFER_USAGE_WEIGHTS);
  return buffer;
}

// Whether the device multiplies matrices of this size in such a buffer.
bool is_served(ggml_backend_dev_t device, ggml_backend_buffer_type_t buffers, const ggml_tensor& like) {
  constexpr std::int64_t kColumns = 1500;
  const auto context = make_context(3);
  ggml_tensor* const weight = ggml_dup_tensor(context.get(), &like);
  const GgmlPointer<ggml_backend_buffer> empty(ggml_backend_buft_alloc_buffer(buffers, 0));
  weight->buffer = empty.get();
  ggml_tensor* const columns = ggml_new_tensor_2d(context.get(), GGML_TYPE_F32, weight->ne[0], kColumns);
  return ggml_backend_dev_supports_op(device, ggml_mul_mat(context.get(), weight, columns));
}

bool multiplies(const WeightPlacement& placement, ggml_type type, std::size_t columns) {
  const auto context = make_context(1);
  const auto size = static_cast<std::int64_t>(columns);
  return is_served(placement.device, placement.buffers, *ggml_new_tensor_2d(context.get(), type, size, size));
}

// Whether the device has flash attention for heads of this size.
bool attends_at_once(ggml_backend_dev_t device, const ModelShape& shape) {
  constexpr std::int64_t kPositions = 1500;
  const auto context = make_context(4);
  ggml_tensor* const part = ggml_new_tensor_3d(context.get(), GGML_TYPE_F32, shape.audio_state / shape.audio_heads,
                                               kPositions, shape.audio_heads);
  return ggml_backend_dev_supports_op(device,
                                      ggml_flash_attn_ext(context.get(), part, part, part, nullptr, 1.0f, 0.0f, 0.0f));
}

// The first of the CPU backend's own buffer types that serves all these matrices, else plain memory. Such buffers
// reorder matrices of some types for faster products (q4_0, some q*_k).
ggml_backend_buffer_type_t fastest_buffers(ggml_context* matrices) {
  const ggml_backend_dev_t cpu = ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU);
  const auto list = reinterpret_cast<ggml_backend_dev_get_extra_bufts_t>(
      ggml_backend_reg_get_proc_address(ggml_backend_dev_backend_reg(cpu), "ggml_backend_dev_get_extra_bufts"));
  ggml_backend_buffer_type_t* const extra = list == nullptr ? nullptr : list(cpu);
  for (std::size_t i = 0; extra != nullptr && extra[i] != nullptr; ++i) {
    bool all = true;
    for (ggml_tensor* t = ggml_get_first_tensor(matrices); t != nullptr && all; t = ggml_get_next_tensor(matrices, t)) {
      all = is_served(cpu, extra[i], *t);
    }
    if (all) return extra[i];
  }
  return ggml_backend_cpu_buffer_type();
}

void to_type(std::span<const float> values, ggml_type type, std::byte* out) {
  const auto count = static_cast<std::int64_t>(values.size());
  if (type == GGML_TYPE_F32) {
    std::memcpy(out, values.data(), values.size_bytes());
  } else if (type == GGML_TYPE_BF16) {
    ggml_cpu_fp32_to_bf16(values.data(), reinterpret_cast<ggml_bf16_t*>(out), count);
  } else {
    ggml_cpu_fp32_to_fp16(values.data(), reinterpret_cast<ggml_fp16_t*>(out), count);
  }
}

// The rows of the parts, one part behind the other, as values of `type`.
std::vector<std::byte> rows_of(std::span<const StoredMatrix> parts, ggml_type type) {
  const std::size_t columns = parts.front().columns;
  const std::size_t row_bytes = ggml_row_size(type, static_cast<std::int64_t>(columns));
  std::size_t rows = 0;
  for (const StoredMatrix& part : parts) rows += part.rows;
  std::vector<std::byte> all(rows * row_bytes);
  std::vector<float> row(columns);
  std::byte* out = all.data();
  for (const StoredMatrix& part : parts) {
    for (std::size_t i = 0; i < part.rows; ++i, out += row_bytes) {
      if (part.type == type) {
        std::memcpy(out, part.data.data() + i * row_bytes, row_bytes);
      } else {
        part.read_row(i, row);
        to_type(row, type, out);
      }
    }
  }
  return all;
}

// Reorders a kernel from the file's [outputs][inputs][frames] to [outputs][frames][inputs].
std::vector<std::byte> kernel_rows(const StoredMatrix& stored, std::size_t outputs, ggml_type type) {
  const std::size_t inputs = stored.rows / outputs;
  const std::size_t width = stored.columns * inputs;
  const StoredMatrix by_output{stored.type, outputs, width, stored.data};
  std::vector<float> row(width);
  std::vector<float> turned(width);
  std::vector<std::byte> all(outputs * ggml_row_size(type, static_cast<std::int64_t>(width)));
  for (std::size_t i = 0; i < outputs; ++i) {
    by_output.read_row(i, row);
    for (std::size_t input = 0; input < inputs; ++input) {
      for (std::size_t frame = 0; frame < stored.columns; ++frame) {
        turned[frame * inputs + input] = row[input * stored.columns + frame];
      }
    }
    to_type(turned, type, all.data() + i * (all.size() / outputs));
  }
  return all;
}

}  // namespace

// Makes all tensors first, since ggml allocates them at once, and remembers the values of each.
class EncoderWeights::Builder {
 public:
  Builder(const ModelReader& file, const WeightPlacement& placement)
      : file_(file),
        placement_(placement),
        plain_(make_context(tensor_count(file.info().shape))),
        matrices_(make_context(tensor_count(file.info().shape))) {}

  ggml_tensor* vector(std::vector<float> values) {
    const auto size = static_cast<std::int64_t>(values.size());
    return plain(size, 1, std::move(values));
  }
  ggml_tensor* positions(const std::string& name) {
    const StoredMatrix stored = file_.matrix(name);
    return plain(static_cast<std::int64_t>(stored.columns), static_cast<std::int64_t>(stored.rows), file_.values(name));
  }
  NormTensors norm(const std::string& name) {
    return {vector(file_.values(name + ".weight")), vector(file_.values(name + ".bias"))};
  }
  // Stacks projections of the same input; `biased` marks those that have a bias.
  LinearTensors stacked(const std::string& name, const std::vector<std::pair<const char*, bool>>& projections) {
    std::vector<StoredMatrix> parts;
    std::vector<float> bias;
    for (const auto& [projection, biased] : projections) {
      parts.push_back(file_.matrix(name + projection + ".weight"));
      const std::size_t outputs = parts.back().rows;
      const std::vector<float> values =
          biased ? file_.values(name + projection + ".bias") : std::vector<float>(outputs, 0.0f);
      bias.insert(bias.end(), values.begin(), values.end());
    }
    const ggml_type type = kept_as(parts.front().type, parts.front().columns);
    ggml_tensor* const weight = matrix(
        type, parts.front().columns, bias.size(), [parts, type] { return rows_of(parts, type); }, matrices_.get());
    return {weight, vector(std::move(bias))};
  }
  LinearTensors linear(const std::string& name) { return stacked(name, {{"", true}}); }
  LinearTensors convolution(const std::string& name) {
    const StoredMatrix kernel = file_.matrix(name + ".weight");
    std::vector<float> bias = file_.values(name + ".bias");
    const std::size_t outputs = bias.size();
    const std::size_t inputs = kernel.columns * kernel.rows / outputs;
    const ggml_type type = kept_as(kernel.type, inputs);
    // Their operands overlap, which only plain memory supports.
    ggml_tensor* const weight = matrix(
        type, inputs, outputs, [kernel, outputs, type] { return kernel_rows(kernel, outputs, type); }, plain_.get());
    return {weight, vector(std::move(bias))};
  }

  void finish(EncoderWeights& target) {
    target.plain_ = allocate(plain_.get(), placement_.buffers);
    target.matrices_ = allocate(matrices_.get(), matrix_buffers());
    for (const auto& [tensor, values] : vectors_) {
      ggml_backend_tensor_set(tensor, values.data(), 0, ggml_nbytes(tensor));
    }
    for (const auto& [tensor, read] : contents_) {
      const std::vector<std::byte> values = read();
      ggml_backend_tensor_set(tensor, values.data(), 0, ggml_nbytes(tensor));
      // Keeps the file and the weights from being in memory as a whole at the same time.
      file_.drop_pages();
    }
    target.plain_context_ = std::move(plain_);
    target.matrix_context_ = std::move(matrices_);
  }

 private:
  static std::size_t tensor_count(const ModelShape& shape) {
    return static_cast<std::size_t>(16 + 16 * shape.audio_layers + 4 * shape.text_layers);
  }

  ggml_backend_buffer_type_t matrix_buffers() const {
    return placement_.device == nullptr ? fastest_buffers(matrices_.get()) : placement_.buffers;
  }

  ggml_type kept_as(ggml_type stored, std::size_t columns) const {
    if (placement_.as_float32) return GGML_TYPE_F32;
    const bool is_multiplied = placement_.device == nullptr || multiplies(placement_, stored, columns);
    return is_multiplied ? stored : GGML_TYPE_F16;
  }

  ggml_tensor* plain(std::int64_t width, std::int64_t rows, std::vector<float> values) {
    ggml_tensor* const tensor = ggml_new_tensor_2d(plain_.get(), GGML_TYPE_F32, width, rows);
    vectors_.emplace_back(tensor, std::move(values));
    return tensor;
  }
  ggml_tensor* matrix(ggml_type type, std::size_t inputs, std::size_t outputs,
                      std::function<std::vector<std::byte>()> read, ggml_context* context) {
    ggml_tensor* const tensor =
        ggml_new_tensor_2d(context, type, static_cast<std::int64_t>(inputs), static_cast<std::int64_t>(outputs));
    contents_.emplace_back(tensor, std::move(read));
    return tensor;
  }

  const ModelReader& file_;
  const WeightPlacement& placement_;
  GgmlPointer<ggml_context> plain_, matrices_;
  std::vector<std::pair<ggml_tensor*, std::vector<float>>> vectors_;
  std::vector<std::pair<ggml_tensor*, std::function<std::vector<std::byte>()>>> contents_;
};

EncoderWeights::EncoderWeights(const ModelReader& reader, const WeightPlacement& placement) try {
  Builder builder(reader, placement);
  first_convolution = builder.convolution("encoder.conv1");
  second_convolution = builder.convolution("encoder.conv2");
  positions = builder.positions("encoder.positional_embedding");
  for (int i = 0; i < reader.info().shape.audio_layers; ++i) {
    const std::string name = "encoder.blocks." + std::to_string(i);
    EncoderLayerTensors& layer = layers.emplace_back();
    layer.attention_norm = builder.norm(name + ".attn_ln");
    layer.qkv = builder.stacked(name + ".attn", {{".query", true}, {".key", false}, {".value", true}});
    layer.out = builder.linear(name + ".attn.out");
    layer.feed_forward_norm = builder.norm(name + ".mlp_ln");
    layer.up = builder.linear(name + ".mlp.0");
    layer.down = builder.linear(name + ".mlp.2");
  }
  final_norm = builder.norm("encoder.ln_post");
  for (int i = 0; i < reader.info().shape.text_layers; ++i) {
    cross.push_back(
        builder.stacked("decoder.blocks." + std::to_string(i) + ".cross_attn", {{".key", false}, {".value", true}}));
  }
  takes_overlapping_rows = placement.device == nullptr;
  has_flash_attention = placement.device == nullptr || attends_at_once(placement.device, reader.info().shape);
  in_float32 = placement.as_float32;
  builder.finish(*this);
} catch (const EngineError&) {
  throw;
} catch (const std::system_error& error) {
  transformer::throw_device_error(error);
} catch (const std::bad_alloc&) {
  throw EngineError(ErrorCode::kOutOfMemory, "no memory for the encoder's weights");
} catch (const std::exception& error) {
  throw EngineError(ErrorCode::kInternalError, std::string("the encoder's weights: ") + error.what());
}

std::size_t EncoderWeights::bytes() const noexcept {
  return ggml_backend_buffer_get_size(plain_.get()) + ggml_backend_buffer_get_size(matrices_.get());
}

}  // namespace verbatim::whisper
