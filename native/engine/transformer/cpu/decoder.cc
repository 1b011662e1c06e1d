#include "transformer/cpu/decoder.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <numeric>
#include <string>
#include <utility>

#include "error.h"
#include "transformer/network.h"

namespace verbatim::transformer {
namespace {

std::size_t slot_bytes(const Transformer& model, ComputeType type) {
  const std::size_t element = type == ComputeType::kBfloat16 ? 2 : 4;
  return model.decoder.layers.size() * 2 * model.width * element;
}

void check_types(CacheTypes types) {
  if (types.cross == ComputeType::kFloat16) {
    throw EngineError(ErrorCode::kInvalidArgument,
                      "no cross-attention in float16; float32, bfloat16 and int8 are allowed");
  }
  if (types.history != ComputeType::kFloat32 && types.history != ComputeType::kBfloat16) {
    throw EngineError(
        ErrorCode::kInvalidArgument,
        "no self-attention in " + std::string(compute_type_name(types.history)) + "; float32 and bfloat16 are allowed");
  }
}

}  // namespace

CpuDecoder::CpuDecoder(const Transformer& model, const CpuWeights& weights, CacheTypes types, const Kernels& kernels,
                       std::size_t most_spare_bytes)
    : model_(model),
      weights_(weights),
      kernels_(kernels),
      types_(types),
      shape_{model.width, static_cast<std::size_t>(model.decoder.heads)},
      embedder_(model.decoder, weights.type()),
      memory_(std::make_shared<HistoryMemory>(slot_bytes(model, types.history), most_spare_bytes)) {
  check_types(types);
  step_.history_type = types.history;
}

std::unique_ptr<CrossCache> CpuDecoder::make_cross_cache(std::size_t positions) {
  if (positions == 0) throw EngineError(ErrorCode::kInvalidArgument, "a source needs a position or more");
  return transformer::make_cross_cache(kernels_, types_.cross, shape_, model_.decoder.layers.size(), positions);
}

std::unique_ptr<History> CpuDecoder::make_history() { return std::make_unique<CpuHistory>(memory_); }

std::size_t CpuDecoder::memory_bytes() const noexcept { return graph_.memory_bytes() + memory_->spare_bytes(); }

void CpuDecoder::reserve(std::size_t rows) {
  const std::size_t capacity = std::min(rows, kMostRows);
  if (graph_.capacity() < capacity || most_wanted_ < capacity) build(capacity, capacity);
}

void CpuDecoder::build(std::size_t rows, std::size_t wanted) {
  graph_ = {};
  CpuGraph graph(model_.width, rows);
  auto ops = std::make_unique<CpuOps>(graph.context(), kernels_, model_, weights_, step_, wanted);
  ggml_tensor* reported = ops->report_logits(build_decoder(*ops, *ops, model_, graph.input()));
  graph.finish(std::move(ops), {reported});
  graph_ = std::move(graph);
  most_wanted_ = wanted;
}

void CpuDecoder::step(std::span<const DecoderInput> rows, const LogitsCallback& on_logits, int threads,
                      const AttentionRecord* record, const AbortFlag* abort) {
  step_.on_logits = &on_logits;
  step_.record = record;
  Appended<CpuHistory> appended;
  const std::vector<StepRow> places = place(rows, appended);
  for (std::size_t first = 0; first < rows.size(); first += kMostRows) {
    const std::size_t count = std::min(kMostRows, rows.size() - first);
    step_.first_row = first;
    step_.rows.assign(places.begin() + static_cast<std::ptrdiff_t>(first),
                      places.begin() + static_cast<std::ptrdiff_t>(first + count));
    compute(rows.subspan(first, count), threads, abort);
  }
  appended.keep();
}

std::vector<StepRow> CpuDecoder::place(std::span<const DecoderInput> rows, Appended<CpuHistory>& appended) const {
  std::vector<StepRow> places;
  for (const DecoderInput& row : rows) {
    auto& history = static_cast<CpuHistory&>(*row.history);
    const std::size_t position = history.length();
    embedder_.check(row.token, position);
    appended.add(history);
    places.push_back({position, &history, static_cast<const CpuCrossCache*>(row.source), row.wants_attention});
  }
  return places;
}

void CpuDecoder::compute(std::span<const DecoderInput> rows, int threads, const AbortFlag* abort) {
  step_.wanted.clear();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].wants_logits) step_.wanted.push_back(i);
  }
  step_.row_count = rows.size();
  step_.wanted_count = step_.wanted.size();
  if (graph_.capacity() < rows.size() || most_wanted_ < step_.wanted.size()) {
    build(std::max(graph_.capacity(), std::bit_ceil(rows.size())),
          std::max(most_wanted_, std::bit_ceil(step_.wanted.size())));
  }
  group_by_source();
  embed(rows);
  threads_.compute(graph_, threads, abort);
}

void CpuDecoder::group_by_source() {
  const auto source = [&](std::size_t row) { return step_.rows[row].source; };
  step_.by_source.resize(step_.rows.size());
  std::iota(step_.by_source.begin(), step_.by_source.end(), std::size_t{0});
  std::ranges::stable_sort(step_.by_source, std::less<>{}, source);
  step_.groups.clear();
  for (std::size_t i = 0; i < step_.by_source.size(); ++i) {
    if (i == 0 || source(step_.by_source[i]) != source(step_.by_source[i - 1])) step_.groups.push_back(i);
  }
  step_.groups.push_back(step_.by_source.size());
}

void CpuDecoder::embed(std::span<const DecoderInput> rows) {
  const std::size_t width = model_.width;
  // Most rows of a step are often at the same position.
  std::vector<float> position_row(width);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::size_t position = step_.rows[i].position;
    if (i == 0 || position != step_.rows[i - 1].position) embedder_.position_row(position, position_row);
    const std::span<float> out(graph_.input_rows() + i * width, width);
    if (position == 0 && model_.start_from_zero_embedding) {
      std::ranges::copy(position_row, out.begin());
    } else {
      embedder_.embed(rows[i].token, position_row, out);
    }
  }
}

std::unique_ptr<Decoder> make_cpu_decoder(const Transformer& model, const CpuWeights& weights, CacheTypes types,
                                          const Kernels& kernels) {
  return std::make_unique<CpuDecoder>(model, weights, types, kernels);
}

}  // namespace verbatim::transformer
