#include "transformer/gpu/decoder_graph.h"

#include <ggml.h>

#include <algorithm>
#include <limits>

namespace verbatim::transformer {
namespace {

constexpr float kMasked = -std::numeric_limits<float>::infinity();

}  // namespace

GpuDecoderGraph::GpuDecoderGraph(const GpuDecoderParts& parts, const GpuDecoderShape& shape)
    : parts_(parts),
      shape_(shape),
      memory_(parts.device.new_allocator()),
      graph_(new_gpu_graph()),
      input_memory_(parts.device) {
  declare_inputs();
  input_memory_.allocate();
  GpuDecoderOps ops(graph_, parts.model, parts.weights, parts.histories, parts.sources, inputs_, shape_);
  graph_.output = build_decoder(ops, ops, parts.model, graph_.input);
  ggml_set_output(graph_.output);
  ggml_build_forward_expand(graph_.nodes, graph_.output);
  parts.device.allocate(graph_.nodes, memory_.get());
}

void GpuDecoderGraph::declare_inputs() {
  const auto indices = [&](std::size_t count) { return input_memory_.add(GGML_TYPE_I32, count); };
  const std::size_t rows = shape_.rows();
  graph_.input = input_memory_.add(GGML_TYPE_F32, parts_.model.width, rows);
  inputs_.write_slots = indices(rows);
  inputs_.read_slots = indices(shape_.past * shape_.texts);
  inputs_.past_mask = input_memory_.add(GGML_TYPE_F32, shape_.past, shape_.tokens, shape_.texts);
  if (!parts_.model.decoder.layers.front().self_attention.relative_keys.empty())
    inputs_.distances = indices(shape_.past * rows);
  inputs_.query_rows = indices(shape_.queries * shape_.sources);
  inputs_.row_queries = indices(rows);
  if (shape_.fetches_sources) inputs_.source_slots = indices(shape_.sources);
  inputs_.source_mask = input_memory_.add(GGML_TYPE_F32, shape_.positions, 1, shape_.sources);
  inputs_.wanted = indices(shape_.wanted);
  declare_recorded();
}

void GpuDecoderGraph::declare_recorded() {
  for (std::size_t i = 0; i < shape_.recorded.size(); ++i) {
    const std::size_t layer = shape_.recorded[i].layer;
    auto found = std::ranges::find(inputs_.recorded, layer, &GpuRecordedLayer::layer);
    if (found == inputs_.recorded.end()) found = inputs_.recorded.insert(found, {layer, {}, nullptr, nullptr});
    found->heads.push_back(i);
  }
  for (GpuRecordedLayer& recorded : inputs_.recorded)
    recorded.places = input_memory_.add(GGML_TYPE_I32, recorded.heads.size() * shape_.rows());
}

void GpuDecoderGraph::run(const GpuRun& run, std::span<const DecoderInput> rows, const Embedder& embedder) {
  set_tokens(run, rows, embedder);
  set_slots(run);
  set_past(run);
  set_sources(run, rows);
  std::vector<std::int32_t> wanted(run.wanted.begin(), run.wanted.end());
  wanted.resize(shape_.wanted);
  input_memory_.set(inputs_.wanted, wanted);
  input_memory_.upload();
  parts_.device.compute(graph_.nodes);
}

void GpuDecoderGraph::set_tokens(const GpuRun& run, std::span<const DecoderInput> rows, const Embedder& embedder) {
  const std::size_t width = parts_.model.width;
  std::vector<float> x(width * shape_.rows());
  std::vector<float> position_row(width);
  for (std::size_t t = 0; t < run.texts.size(); ++t) {
    const GpuTextRows& text = run.texts[t];
    for (std::size_t i = 0; i < text.rows.size(); ++i) {
      const std::size_t position = text.first + i;
      const auto out = std::span(x).subspan((t * shape_.tokens + i) * width, width);
      embedder.position_row(position, position_row);
      if (position == 0 && parts_.model.start_from_zero_embedding) {
        std::ranges::copy(position_row, out.begin());
      } else {
        embedder.embed(rows[text.rows[i]].token, position_row, out);
      }
    }
  }
  input_memory_.set(graph_.input, x);
}

// Padding writes to slots that are currently free, and reads the same as its row or its text.
void GpuDecoderGraph::set_slots(const GpuRun& run) {
  std::size_t used = 0;
  for (const GpuTextRows& text : run.texts) used += text.rows.size();
  Slots& slots = parts_.histories.slots();
  const std::vector<std::int32_t> padding = slots.take(shape_.rows() - used);
  auto next = padding.begin();
  std::vector<std::int32_t> write, read;
  for (std::size_t t = 0; t < shape_.texts; ++t) {
    const bool is_text = t < run.texts.size();
    const std::size_t first = is_text ? run.texts[t].first : 0;
    const std::size_t count = is_text ? run.texts[t].rows.size() : 0;
    const auto past = is_text ? run.texts[t].history->slots().first(first + count) : std::span<const std::int32_t>();
    write.insert(write.end(), past.begin() + static_cast<std::ptrdiff_t>(first), past.end());
    for (std::size_t i = count; i < shape_.tokens; ++i) write.push_back(*next++);
    read.insert(read.end(), past.begin(), past.end());
    read.insert(read.end(), shape_.past - past.size(), write.back());
  }
  slots.release(padding);
  input_memory_.set(inputs_.write_slots, write);
  input_memory_.set(inputs_.read_slots, read);
}

// Each row attends to its text up to itself. Padding attends to something, so that its values are not NaN.
void GpuDecoderGraph::set_past(const GpuRun& run) {
  std::vector<float> mask(shape_.past * shape_.rows(), kMasked);
  std::vector<std::int32_t> distances;
  const auto& table = parts_.model.decoder.layers.front().self_attention.relative_keys;
  for (std::size_t row = 0; row < shape_.rows(); ++row) {
    const std::size_t t = row / shape_.tokens;
    const std::size_t first = t < run.texts.size() ? run.texts[t].first : 0;
    const std::size_t position = std::min(first + row % shape_.tokens, shape_.past - 1);
    std::fill_n(mask.begin() + static_cast<std::ptrdiff_t>(row * shape_.past), position + 1, 0.0f);
    for (std::size_t j = 0; inputs_.distances && j < shape_.past; ++j)
      distances.push_back(relative_row(table, j, position));
  }
  input_memory_.set(inputs_.past_mask, mask);
  input_memory_.set(inputs_.distances, distances);
}

void GpuDecoderGraph::set_sources(const GpuRun& run, std::span<const DecoderInput> rows) {
  std::vector<std::int32_t> query_rows(shape_.queries * shape_.sources), row_queries(shape_.rows());
  std::vector<float> mask(shape_.positions * shape_.sources);
  for (std::size_t s = 0; s < run.readers.size(); ++s) {
    for (std::size_t j = 0; j < run.readers[s].size(); ++j) {
      const std::size_t row = run.readers[s][j], query = s * shape_.queries + j;
      query_rows[query] = static_cast<std::int32_t>(row);
      row_queries[row] = static_cast<std::int32_t>(query);
    }
    if (run.readers[s].empty()) continue;
    const std::size_t row = run.readers[s].front();
    const GpuTextRows& text = run.texts[row / shape_.tokens];
    const std::size_t positions = rows[text.rows[row % shape_.tokens]].source->positions();
    const auto begin = mask.begin() + static_cast<std::ptrdiff_t>(s * shape_.positions);
    std::fill_n(begin + static_cast<std::ptrdiff_t>(positions), shape_.positions - positions, kMasked);
  }
  input_memory_.set(inputs_.query_rows, query_rows);
  input_memory_.set(inputs_.row_queries, row_queries);
  input_memory_.set(inputs_.source_mask, mask);
  set_recorded(row_queries);
  if (!inputs_.source_slots) return;
  std::vector<std::int32_t> slots(run.slots.begin(), run.slots.end());
  slots.resize(shape_.sources, slots.front());
  input_memory_.set(inputs_.source_slots, slots);
}

// row_queries: the query of each row.
void GpuDecoderGraph::set_recorded(std::span<const std::int32_t> row_queries) {
  const auto heads = static_cast<std::size_t>(parts_.model.decoder.heads);
  for (const GpuRecordedLayer& recorded : inputs_.recorded) {
    std::vector<std::int32_t> places;
    for (const std::int32_t query : row_queries) {
      const std::size_t source = static_cast<std::size_t>(query) / shape_.queries;
      const std::size_t j = static_cast<std::size_t>(query) % shape_.queries;
      for (const std::size_t number : recorded.heads) {
        const std::size_t head = shape_.recorded[number].head;
        places.push_back(static_cast<std::int32_t>((source * heads + head) * shape_.queries + j));
      }
    }
    input_memory_.set(recorded.places, places);
  }
}

void GpuDecoderGraph::read_logits(std::vector<float>& out, std::size_t rows) const {
  out.resize(rows * static_cast<std::size_t>(graph_.output->ne[0]));
  if (rows > 0) parts_.device.download(graph_.output, out.data(), out.size() * sizeof(float));
}

void GpuDecoderGraph::show(const GpuRun& run, std::span<const DecoderInput> rows,
                           const AttentionCallback& on_weights) const {
  std::vector<float> weights;
  for (const GpuRecordedLayer& recorded : inputs_.recorded) {
    weights.resize(static_cast<std::size_t>(ggml_nelements(recorded.weights)));
    parts_.device.download(recorded.weights, weights.data(), weights.size() * sizeof(float));
    for (std::size_t t = 0; t < run.texts.size(); ++t) {
      for (std::size_t i = 0; i < run.texts[t].rows.size(); ++i) {
        const std::size_t row = run.texts[t].rows[i];
        if (!rows[row].wants_attention) continue;
        const std::size_t place = (t * shape_.tokens + i) * recorded.heads.size();
        for (std::size_t h = 0; h < recorded.heads.size(); ++h) {
          on_weights(row, recorded.heads[h],
                     std::span(weights).subspan((place + h) * shape_.positions, rows[row].source->positions()));
        }
      }
    }
  }
}

}  // namespace verbatim::transformer
