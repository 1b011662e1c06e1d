#include "accelerator/onednn/attention.h"

#include <ggml.h>

#include <algorithm>
#include <cstring>
#include <span>

#include "accelerator/matrices.h"
#include "accelerator/onednn/primitives.h"
#include "accelerator/onednn/workspace.h"

namespace verbatim::accelerator {
namespace {

// A window has at least this many positions; a prompt has fewer.
constexpr std::int64_t kLeastQueries = 240;
// Queries of a block: their scores fit the second-level cache, 128 x 1536 floats.
constexpr std::int64_t kBlock = 128;

// The primitives for one block of queries, on one thread.
struct Plan {
  Matmul scores, output;
  Softmax::primitive_desc softmax_description;
  Softmax softmax;
  // Of queries.
  float scale = 1.0f;
};

struct Shape {
  std::int64_t queries, keys, heads, width;
  DataType type;
  std::size_t head_bytes() const { return static_cast<std::size_t>(keys * width) * operand_bytes(type); }
};

float parameter(const ggml_tensor& tensor, std::size_t index) {
  float value = 0.0f;
  std::memcpy(&value, &tensor.op_params[index], sizeof(value));
  return value;
}

Plan make_plan(MatmulCache& matmuls, const Shape& shape, float scale) {
  const ThreadCount one(1);
  MatmulShape scores;
  scores.rows = kBlock;
  scores.columns = shape.keys;
  scores.depth = shape.width;
  scores.operand = MatmulShape::Operand::kByColumn;
  scores.type = shape.type;
  MatmulShape output;
  output.rows = kBlock;
  output.columns = shape.width;
  output.depth = shape.keys;
  output.operand = MatmulShape::Operand::kByRow;
  output.type = shape.type;

  Plan plan;
  plan.scores = matmuls.get(scores);
  plan.output = matmuls.get(output);
  const dnnl::memory::dims dims{kBlock, shape.keys};
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  plan.softmax_description = describe_softmax(cpu_engine(), {dims, DataType::f32, dnnl::memory::format_tag::ab},
                                              {dims, shape.type, dnnl::memory::format_tag::ab}, attributes);
  plan.softmax = Softmax(plan.softmax_description);
  plan.scale = scale;
  return plan;
}

// One head of keys or values as rows of operands.
void convert_head(const ggml_tensor& from, std::int64_t head, const Shape& shape, char* to, Lane& lane) {
  const std::size_t row_bytes = static_cast<std::size_t>(shape.width) * operand_bytes(shape.type);
  float* const scratch = lane.floats.reserve_as<float>(static_cast<std::size_t>(shape.width));
  for (std::int64_t key = 0; key < shape.keys; ++key) {
    const char* row = static_cast<const char*>(from.data) + static_cast<std::size_t>(head) * from.nb[2] +
                      static_cast<std::size_t>(key) * from.nb[1];
    to_operands(from.type, row, shape.type, to + static_cast<std::size_t>(key) * row_bytes, shape.width, scratch);
  }
}

void run(Lane& lane, dnnl::stream& stream, const dnnl::primitive& primitive, const dnnl::memory::desc& scratch,
         std::unordered_map<int, dnnl::memory> arguments) {
  arguments.insert({DNNL_ARG_SCRATCHPAD, {scratch, cpu_engine(), lane.scratchpad.reserve(scratch.get_size())}});
  primitive.execute(stream, arguments);
}

// Computes queries first ... first + kBlock of one head. The block's missing queries are computed as zeros and dropped.
void attend(const ggml_tensor& attention, const Plan& plan, const Shape& shape, std::int64_t head, std::int64_t first,
            void* keys, void* values, Lane& lane, dnnl::stream& stream) {
  const ggml_tensor& query = *attention.src[0];
  const std::int64_t count = std::min(kBlock, shape.queries - first);
  const auto width = static_cast<std::size_t>(shape.width);
  const std::size_t row_bytes = width * operand_bytes(shape.type);
  auto* const rows = static_cast<char*>(lane.query.reserve(kBlock * row_bytes));
  float* const scaled = lane.floats.reserve_as<float>(width);
  for (std::int64_t i = 0; i < count; ++i) {
    const char* const data = static_cast<const char*>(query.data) + static_cast<std::size_t>(head) * query.nb[2] +
                             static_cast<std::size_t>(first + i) * query.nb[1];
    const std::span row(reinterpret_cast<const float*>(data), width);
    std::ranges::transform(row, scaled, [&](float value) { return value * plan.scale; });
    to_operands(GGML_TYPE_F32, scaled, shape.type, rows + static_cast<std::size_t>(i) * row_bytes, shape.width,
                nullptr);
  }
  std::memset(rows + static_cast<std::size_t>(count) * row_bytes, 0,
              static_cast<std::size_t>(kBlock - count) * row_bytes);

  const auto& engine = cpu_engine();
  const auto cells = static_cast<std::size_t>(kBlock * shape.keys);
  const auto& scores = plan.scores.description;
  const auto& output = plan.output.description;
  dnnl::memory score_memory(scores.dst_desc(), engine, lane.scores.reserve_as<float>(cells));
  dnnl::memory weight_memory(output.src_desc(), engine, lane.weights.reserve(cells * operand_bytes(shape.type)));
  auto* const result = lane.output.reserve_as<float>(kBlock * width);
  run(lane, stream, plan.scores.primitive, scores.scratchpad_desc(),
      {{DNNL_ARG_SRC, {scores.src_desc(), engine, rows}},
       {DNNL_ARG_WEIGHTS, {scores.weights_desc(), engine, keys}},
       {DNNL_ARG_DST, score_memory}});
  run(lane, stream, plan.softmax, plan.softmax_description.scratchpad_desc(),
      {{DNNL_ARG_SRC, score_memory}, {DNNL_ARG_DST, weight_memory}});
  run(lane, stream, plan.output.primitive, output.scratchpad_desc(),
      {{DNNL_ARG_SRC, weight_memory},
       {DNNL_ARG_WEIGHTS, {output.weights_desc(), engine, values}},
       {DNNL_ARG_DST, {output.dst_desc(), engine, result}}});
  // ggml's result is [width, heads, queries].
  for (std::int64_t i = 0; i < count; ++i) {
    std::memcpy(static_cast<char*>(attention.data) + static_cast<std::size_t>(head) * attention.nb[1] +
                    static_cast<std::size_t>(first + i) * attention.nb[2],
                result + static_cast<std::size_t>(i) * width, width * sizeof(float));
  }
}

}  // namespace

bool takes_attention(const ggml_tensor& attention) {
  if (attention.op != GGML_OP_FLASH_ATTN_EXT) return false;
  const ggml_tensor& query = *attention.src[0];
  const ggml_tensor& key = *attention.src[1];
  const ggml_tensor& value = *attention.src[2];
  const auto readable = [](const ggml_tensor& tensor) {
    return (tensor.type == GGML_TYPE_F16 || tensor.type == GGML_TYPE_F32) &&
           tensor.nb[0] == ggml_type_size(tensor.type);
  };
  const bool plain = attention.src[3] == nullptr && attention.src[4] == nullptr && parameter(attention, 1) == 0.0f &&
                     parameter(attention, 2) == 0.0f;
  return plain && query.type == GGML_TYPE_F32 && query.nb[0] == sizeof(float) && readable(key) && readable(value) &&
         query.ne[1] >= kLeastQueries && query.ne[3] == 1 && key.ne[2] == query.ne[2] && value.ne[2] == query.ne[2] &&
         key.ne[3] == 1 && value.ne[3] == 1 && key.ne[0] == query.ne[0] && value.ne[0] == query.ne[0] &&
         value.ne[1] == key.ne[1];
}

void compute_attention(Workspace& workspace, const ggml_tensor& attention) {
  const ggml_tensor& query = *attention.src[0];
  const Shape shape{query.ne[1], attention.src[1]->ne[1], query.ne[2], query.ne[0], workspace.store->type()};
  const Plan plan = make_plan(workspace.matmuls, shape, parameter(attention, 0));
  const auto heads = static_cast<std::size_t>(shape.heads);
  auto* const keys = static_cast<char*>(workspace.left.reserve(heads * shape.head_bytes()));
  auto* const values = static_cast<char*>(workspace.right.reserve(heads * shape.head_bytes()));
  workspace.lanes.resize(static_cast<std::size_t>(workspace.threads));
  const auto lane = [&](std::size_t thread) -> Lane& { return workspace.lanes[thread]; };

  for_each(2 * shape.heads, workspace.threads, [&](std::int64_t index, std::size_t thread) {
    const std::int64_t head = index / 2;
    const bool key = index % 2 == 0;
    convert_head(*attention.src[key ? 1 : 2], head, shape,
                 (key ? keys : values) + static_cast<std::size_t>(head) * shape.head_bytes(), lane(thread));
  });
  const std::int64_t blocks = (shape.queries + kBlock - 1) / kBlock;
  for_each(shape.heads * blocks, workspace.threads, [&](std::int64_t index, std::size_t thread) {
    const std::int64_t head = index / blocks;
    const std::size_t offset = static_cast<std::size_t>(head) * shape.head_bytes();
    dnnl::stream stream(cpu_engine());
    attend(attention, plan, shape, head, index % blocks * kBlock, keys + offset, values + offset, lane(thread), stream);
    stream.wait();
  });
}

}  // namespace verbatim::accelerator
