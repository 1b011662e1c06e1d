#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "transformer/decoder.h"
#include "transformer/executor.h"
#include "transformer/transformer.h"

namespace verbatim::transformer {

// The hypotheses of a search as texts of a decoder: which row continues which, and the alignment of each.
class Hypotheses {
 public:
  explicit Hypotheses(const Transformer& model);

  // Forgets all texts.
  void start(const ExecutorStart& batch);
  // A step of the decoder that the texts belong to; `sources` by sentence. The output stays until the next
  // step. Throws what Decoder::step throws: the texts are then as before.
  StepOutput step(Decoder& decoder, std::span<const DecoderRow> rows,
                  std::span<const CrossCache* const> sources, const LogitsVisitor& visit, int threads,
                  const AbortFlag* abort);

 private:
  std::vector<std::unique_ptr<History>> continued(Decoder& decoder, std::span<const DecoderRow> rows) const;
  float* head_row(std::size_t row, std::size_t head);
  void average_heads(std::size_t rows);

  // Of the rows of the last step.
  std::vector<std::unique_ptr<History>> histories_;
  // The heads of the alignment, one row of attention each and their mean; stride 0: it is not asked for.
  std::vector<AttentionHead> alignment_heads_;
  std::vector<float> heads_;
  std::vector<float> attention_;
  std::size_t attention_stride_ = 0;
};

}  // namespace verbatim::transformer
