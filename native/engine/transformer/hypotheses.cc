#include "transformer/hypotheses.h"

#include <algorithm>
#include <utility>

namespace verbatim::transformer {

Hypotheses::Hypotheses(const Transformer& model) {
  for (int head = 0; head < model.alignment_heads; ++head)
    alignment_heads_.push_back({model.alignment_layer, static_cast<std::size_t>(head)});
}

void Hypotheses::start(const ExecutorStart& batch) {
  histories_.clear();
  attention_stride_ = 0;
  if (!batch.with_attention) return;
  for (const auto& source : batch.sources) attention_stride_ = std::max(attention_stride_, source.size());
  attention_.assign(batch.max_rows * attention_stride_, 0.0f);
  heads_.assign(attention_.size() * alignment_heads_.size(), 0.0f);
}

StepOutput Hypotheses::step(Decoder& decoder, std::span<const DecoderRow> rows,
                            std::span<const CrossCache* const> sources, const LogitsCallback& on_logits, int threads,
                            const AbortFlag* abort) {
  std::vector<std::unique_ptr<History>> histories = continued(decoder, rows);
  std::vector<DecoderInput> inputs;
  for (std::size_t i = 0; i < rows.size(); ++i)
    inputs.push_back({rows[i].token, histories[i].get(), sources[rows[i].sentence]});
  const AttentionRecord record{alignment_heads_,
                               [this](std::size_t row, std::size_t head, std::span<const float> weights) {
                                 std::ranges::copy(weights, head_row(row, head));
                               }};
  decoder.step(inputs, on_logits, threads, attention_stride_ > 0 ? &record : nullptr, abort);
  histories_ = std::move(histories);
  if (attention_stride_ == 0) return {};
  average_heads(rows.size());
  return {attention_.data(), attention_stride_};
}

// The histories that the rows continue, one for each row.
std::vector<std::unique_ptr<History>> Hypotheses::continued(Decoder& decoder, std::span<const DecoderRow> rows) const {
  std::vector<std::unique_ptr<History>> histories;
  const bool is_first = histories_.empty();
  for (const DecoderRow& row : rows)
    histories.push_back(is_first ? decoder.make_history() : histories_[row.origin]->fork());
  return histories;
}

float* Hypotheses::head_row(std::size_t row, std::size_t head) {
  return heads_.data() + (row * alignment_heads_.size() + head) * attention_stride_;
}

// The alignment is the mean of its heads.
void Hypotheses::average_heads(std::size_t rows) {
  for (std::size_t row = 0; row < rows; ++row) {
    const std::span mean(attention_.data() + row * attention_stride_, attention_stride_);
    std::ranges::fill(mean, 0.0f);
    for (std::size_t head = 0; head < alignment_heads_.size(); ++head) {
      const float* weights = head_row(row, head);
      for (std::size_t j = 0; j < mean.size(); ++j) mean[j] += weights[j] / static_cast<float>(alignment_heads_.size());
    }
  }
}

}  // namespace verbatim::transformer
