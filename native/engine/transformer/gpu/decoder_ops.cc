#include "transformer/gpu/decoder_ops.h"

#include <ggml.h>

namespace verbatim::transformer {

GpuDecoderOps::GpuDecoderOps(const GpuGraph& graph, const Transformer& model, const GpuWeights& weights,
                             const GpuHistories& histories, const GpuSources& all_sources, GpuDecoderInputs& inputs,
                             const GpuDecoderShape& shape)
    : GpuOps(graph, model, weights),
      heads_{model.width, static_cast<std::size_t>(model.decoder.heads)},
      histories_(histories),
      all_sources_(all_sources),
      inputs_(inputs),
      shape_(shape) {}

ggml_tensor* GpuDecoderOps::wanted_rows(ggml_tensor* x) { return ggml_get_rows(context_, x, inputs_.wanted); }

// Appends keys and values to the texts; the result is [2 * width, past * texts].
ggml_tensor* GpuDecoderOps::past_of_texts(ggml_tensor* qkv, std::size_t layer) {
  ggml_tensor* fresh =
      ggml_view_2d(context_, qkv, dim(2 * model_.width), qkv->ne[1], qkv->nb[1], model_.width * sizeof(float));
  ggml_tensor* table = ggml_set_rows(context_, histories_.layer(layer), fresh, inputs_.write_slots);
  return ggml_get_rows(context_, table, inputs_.read_slots);
}

ggml_tensor* GpuDecoderOps::decoder_attention(ggml_tensor* qkv, const Attention& weights, std::size_t layer) {
  ggml_tensor* past = past_of_texts(qkv, layer);
  const auto part = [&](std::size_t index) { return heads_of(past, index, heads_, shape_.past, shape_.texts); };
  ggml_tensor* keys = ggml_cont(context_, ggml_permute(context_, part(0), 0, 2, 1, 3));
  ggml_tensor* values = ggml_cont(context_, ggml_permute(context_, part(1), 1, 2, 0, 3));
  ggml_tensor* query = heads_of(qkv, 0, heads_, shape_.tokens, shape_.texts);
  query = ggml_cont(context_, ggml_permute(context_, query, 0, 2, 1, 3));
  ggml_tensor* scores = product(keys, query);
  const bool is_relative = !weights.relative_keys.empty();
  if (is_relative) scores = add_relative_keys(scores, qkv, weights);
  ggml_tensor* mixture = probabilities(scores, inputs_.past_mask, heads_.size());
  ggml_tensor* context = ggml_permute(context_, product(values, mixture), 0, 2, 1, 3);
  context = ggml_cont_2d(context_, context, dim(model_.width), dim(shape_.rows()));
  return is_relative ? add_relative_values(context, mixture, weights) : context;
}

// Scores [past, tokens, heads, texts]: each query times the key vectors of its distances.
ggml_tensor* GpuDecoderOps::add_relative_keys(ggml_tensor* scores, ggml_tensor* qkv, const Attention& weights) {
  ggml_tensor* table = ggml_get_rows(context_, weights_.get(weights.relative_keys), inputs_.distances);
  table = ggml_reshape_3d(context_, table, dim(heads_.size()), dim(shape_.past), dim(shape_.rows()));
  ggml_tensor* query = ggml_cont(context_, heads_of(qkv, 0, heads_, 1, shape_.rows()));
  query = ggml_reshape_3d(context_, query, dim(heads_.size()), dim(heads_.count), dim(shape_.rows()));
  ggml_tensor* products = product(table, query);
  products =
      ggml_reshape_4d(context_, products, dim(shape_.past), dim(heads_.count), dim(shape_.tokens), dim(shape_.texts));
  return ggml_add(context_, scores, ggml_cont(context_, ggml_permute(context_, products, 0, 2, 1, 3)));
}

// Context [width, rows].
ggml_tensor* GpuDecoderOps::add_relative_values(ggml_tensor* context, ggml_tensor* mixture, const Attention& weights) {
  ggml_tensor* table = ggml_get_rows(context_, weights_.get(weights.relative_values), inputs_.distances);
  table = ggml_reshape_3d(context_, table, dim(heads_.size()), dim(shape_.past), dim(shape_.rows()));
  table = ggml_cont(context_, ggml_permute(context_, table, 1, 0, 2, 3));
  ggml_tensor* by_row = ggml_cont(context_, ggml_permute(context_, mixture, 0, 2, 1, 3));
  by_row = ggml_reshape_3d(context_, by_row, dim(shape_.past), dim(heads_.count), dim(shape_.rows()));
  ggml_tensor* products = product(table, by_row);
  return ggml_add(context_, context, ggml_reshape_2d(context_, products, dim(model_.width), dim(shape_.rows())));
}

// The keys or values of the run's sources, [a, b, heads, sources].
ggml_tensor* GpuDecoderOps::of_sources(ggml_tensor* table) {
  if (shape_.fetches_sources) {
    ggml_tensor* flat = ggml_reshape_2d(context_, table, table->ne[0] * table->ne[1] * table->ne[2], table->ne[3]);
    table = ggml_reshape_4d(context_, ggml_get_rows(context_, flat, inputs_.source_slots), table->ne[0], table->ne[1],
                            table->ne[2], dim(shape_.sources));
  }
  return table;
}

ggml_tensor* GpuDecoderOps::cross_attention(ggml_tensor* query, std::size_t layer) {
  const std::int64_t positions = dim(shape_.positions), size = dim(heads_.size()), count = dim(heads_.count),
                     queries = dim(shape_.queries), sources = dim(shape_.sources);
  ggml_tensor* keys = of_sources(all_sources_.keys(layer));
  keys = ggml_view_4d(context_, keys, size, positions, count, sources, keys->nb[1], keys->nb[2], keys->nb[3], 0);
  if (!ggml_is_contiguous(keys)) keys = ggml_cont(context_, keys);
  ggml_tensor* values = of_sources(all_sources_.values(layer));
  values =
      ggml_view_4d(context_, values, positions, size, count, sources, values->nb[1], values->nb[2], values->nb[3], 0);
  if (!ggml_is_contiguous(values)) values = ggml_cont(context_, values);
  // The rows of a source are its queries; they share its keys and values.
  query = ggml_get_rows(context_, query, inputs_.query_rows);
  query = heads_of(query, 0, heads_, shape_.queries, shape_.sources);
  query = ggml_cont(context_, ggml_permute(context_, query, 0, 2, 1, 3));
  ggml_tensor* scores = product(keys, query);
  // One mask serves all queries of a source.
  scores = ggml_reshape_4d(context_, scores, positions, 1, queries * count, sources);
  ggml_tensor* mixture = probabilities(scores, inputs_.source_mask, heads_.size());
  record(mixture, layer);
  mixture = ggml_reshape_4d(context_, mixture, positions, queries, count, sources);
  ggml_tensor* context = ggml_permute(context_, product(values, mixture), 0, 2, 1, 3);
  context = ggml_cont_2d(context_, context, dim(model_.width), queries * sources);
  return ggml_get_rows(context_, context, inputs_.row_queries);
}

// mixture: [positions, 1, queries * heads, sources].
void GpuDecoderOps::record(ggml_tensor* mixture, std::size_t layer) {
  for (GpuRecordedLayer& recorded : inputs_.recorded) {
    if (recorded.layer != layer) continue;
    ggml_tensor* flat = ggml_reshape_2d(context_, mixture, mixture->ne[0], ggml_nrows(mixture));
    recorded.weights = ggml_get_rows(context_, flat, recorded.places);
    ggml_set_output(recorded.weights);
    ggml_build_forward_expand(graph_.nodes, recorded.weights);
  }
}

}  // namespace verbatim::transformer
