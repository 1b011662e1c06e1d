#include "transformer/gpu/state.h"

#include <ggml.h>

#include <algorithm>
#include <utility>

namespace verbatim::transformer {

void GpuState::start(GpuBatch& batch, std::size_t sentences, std::size_t source, std::size_t max_rows,
                     std::size_t steps) {
  const auto heads = static_cast<std::size_t>(model_.decoder.heads);
  const std::size_t size = model_.width / heads;
  max_rows_ = max_rows;
  ancestors_.clear();
  batch.cross_keys.clear();
  batch.cross_values.clear();
  cross_ = {};
  ggml_context_ptr context = new_gpu_context();
  for (std::size_t i = 0; i < model_.decoder.layers.size(); ++i) {
    batch.cross_keys.push_back(
        ggml_new_tensor_4d(context.get(), GGML_TYPE_F32, dim(size), dim(source), dim(heads), dim(sentences)));
    batch.cross_values.push_back(
        ggml_new_tensor_4d(context.get(), GGML_TYPE_F32, dim(source), dim(size), dim(heads), dim(sentences)));
  }
  cross_ = new_gpu_storage(std::move(context), memory_);
  if (cache_rows_ < max_rows * steps) grow(batch, max_rows * steps, false);
}

bool GpuState::reserve(GpuBatch& batch, std::size_t steps) {
  if (cache_rows_ >= steps * max_rows_) return false;
  grow(batch, std::max(2 * cache_rows_, steps * max_rows_), true);
  return true;
}

void GpuState::grow(GpuBatch& batch, std::size_t rows, bool keep) {
  ggml_context_ptr context = new_gpu_context();
  std::vector<ggml_tensor*> grown;
  for (std::size_t i = 0; i < model_.decoder.layers.size(); ++i) {
    grown.push_back(ggml_new_tensor_2d(context.get(), GGML_TYPE_F32, dim(2 * model_.width), dim(rows)));
  }
  GpuStorage storage = new_gpu_storage(std::move(context), memory_);
  const ggml_context_ptr views = new_gpu_context();
  for (std::size_t i = 0; keep && i < batch.cache.size(); ++i) {
    ggml_tensor* old = batch.cache[i];
    ggml_tensor* begin = ggml_view_2d(views.get(), grown[i], old->ne[0], old->ne[1], grown[i]->nb[1], 0);
    ggml_backend_view_init(begin);
    ggml_backend_tensor_copy(old, begin);
  }
  batch.cache = std::move(grown);
  cache_ = std::move(storage);
  cache_rows_ = rows;
}

void GpuState::follow(std::span<const DecoderRow> rows, std::size_t step) {
  std::vector<std::vector<std::int32_t>> ancestors(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (step > 0) ancestors[i] = ancestors_[rows[i].origin];
    ancestors[i].push_back(static_cast<std::int32_t>(step * max_rows_ + i));
  }
  ancestors_ = std::move(ancestors);
}

std::vector<std::int32_t> GpuState::write_rows() const {
  std::vector<std::int32_t> rows;
  for (const auto& past : ancestors_) rows.push_back(past.back());
  return rows;
}

std::vector<std::int32_t> GpuState::read_rows(std::size_t steps) const {
  std::vector<std::int32_t> rows;
  for (const auto& past : ancestors_) {
    rows.insert(rows.end(), past.begin(), past.end());
    rows.insert(rows.end(), steps - past.size(), past.back());
  }
  return rows;
}

void move_sentences(const GpuGraph& graph, ggml_tensor* tensor, ggml_tensor* kept) {
  ggml_context* context = graph.context.get();
  const std::int64_t sentence = tensor->ne[0] * tensor->ne[1] * tensor->ne[2];
  ggml_tensor* flat = ggml_view_2d(context, tensor, sentence, tensor->ne[3], tensor->nb[3], 0);
  ggml_tensor* rows = ggml_get_rows(context, flat, kept);
  ggml_tensor* begin = ggml_view_2d(context, tensor, sentence, kept->ne[0], tensor->nb[3], 0);
  ggml_build_forward_expand(graph.nodes, ggml_cpy(context, rows, begin));
}

}  // namespace verbatim::transformer
