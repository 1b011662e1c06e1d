#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "transformer/decoder.h"
#include "transformer/executor.h"
#include "transformer/transformer.h"

namespace verbatim::transformer {

// The hypotheses of a search as histories of a decoder, and the alignment of each row.
class Hypotheses {
 public:
  explicit Hypotheses(const Transformer& model);

  // Drops all histories.
  void start(const ExecutorStart& batch);
  // Runs a step of the decoder that the histories belong to; `sources`: one for each sentence. The output is valid
  // until the next step. Throws what Decoder::step throws; the histories are unchanged then.
  StepOutput step(Decoder& decoder, std::span<const DecoderRow> rows, std::span<const CrossCache* const> sources,
                  const LogitsCallback& on_logits, int threads, const AbortFlag* abort);

 private:
  std::vector<std::unique_ptr<History>> continued(Decoder& decoder, std::span<const DecoderRow> rows) const;
  float* head_row(std::size_t row, std::size_t head);
  void average_heads(std::size_t rows);

  // One for each row of the last step.
  std::vector<std::unique_ptr<History>> histories_;
  // The heads of the alignment, the attention of each and their mean; stride 0: no alignment is requested.
  std::vector<AttentionHead> alignment_heads_;
  std::vector<float> heads_;
  std::vector<float> attention_;
  std::size_t attention_stride_ = 0;
};

}  // namespace verbatim::transformer
