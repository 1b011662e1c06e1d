#include "translation/backends/ggml/translator.h"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <utility>

#include "error.h"
#include "milliseconds_since.h"
#include "transformer/search/search.h"

namespace verbatim::translation {
namespace {

// The inputs of one call as ids, in the order of work: the longest first, so that the sentences of a batch are of
// similar length.
struct EncodedInputs {
  std::vector<std::size_t> order;
  std::vector<std::vector<transformer::TokenId>> sources;
  std::vector<std::vector<transformer::TokenId>> prefixes;
  std::vector<transformer::TokenId> starts;
};

// The caller's options, and the search settings that follow from them.
struct CallOptions {
  const TranslationOptions& options;
  const transformer::SearchSettings& search;
};

class GgmlTranslator final : public Translator {
 public:
  GgmlTranslator(std::shared_ptr<const TranslationModel> owner, const ModelFiles& files,
                 std::unique_ptr<transformer::Executor> executor, const transformer::Kernels& kernels)
      : owner_(std::move(owner)),
        files_(files),
        codec_(files.codec),
        executor_(std::move(executor)),
        kernels_(kernels) {}

  TranslationBatch translate(std::span<const TranslationInput> inputs, const TranslationOptions& options,
                             const AbortFlag* abort) override {
    options.check();
    const auto start = std::chrono::steady_clock::now();
    const transformer::SearchSettings settings{options, codec_.end_id(), codec_.target().unk_id(),
                                               files_.target_positions(),
                                               options.return_attention || options.replace_unknowns};
    TranslationBatch batch;
    batch.results.resize(inputs.size());
    const EncodedInputs encoded = encode(inputs, options, batch);
    const auto size = static_cast<std::size_t>(options.max_batch_size);
    executor_->reset_timings();
    for (std::size_t first = 0; first < encoded.order.size(); first += size) {
      run(inputs, encoded, first, std::min(first + size, encoded.order.size()), {options, settings}, abort, batch);
    }
    for (const auto& hypotheses : batch.results) batch.timings.tokens_out += hypotheses.front().tokens.size();
    batch.timings.encode_ms = executor_->encode_ms();
    batch.timings.total_ms = milliseconds_since(start);
    return batch;
  }

  std::size_t memory_bytes() const noexcept override { return executor_->memory_bytes(); }

 private:
  EncodedInputs encode(std::span<const TranslationInput> inputs, const TranslationOptions& options,
                       TranslationBatch& batch) const {
    std::vector<std::vector<transformer::TokenId>> sources(inputs.size());
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      sources[i] = files_.encode_source(inputs[i], i, options);
      batch.timings.tokens_in += sources[i].size();
      if (codec_.is_empty(sources[i])) {
        batch.results[i] = empty_result(inputs[i], options);
        continue;
      }
      order.push_back(i);
    }
    std::ranges::stable_sort(order, std::ranges::greater{}, [&](std::size_t i) { return sources[i].size(); });
    EncodedInputs encoded{order, {}, {}, {}};
    for (const std::size_t i : order) {
      std::vector<transformer::TokenId> prefix = codec_.encode_prefix(inputs[i].target_prefix);
      encoded.starts.push_back(prefix.front());
      prefix.erase(prefix.begin());
      encoded.sources.push_back(std::move(sources[i]));
      encoded.prefixes.push_back(std::move(prefix));
    }
    return encoded;
  }

  // An empty source is not decoded: its translation is the prefix.
  static std::vector<TranslationHypothesis> empty_result(const TranslationInput& input,
                                                         const TranslationOptions& options) {
    return std::vector<TranslationHypothesis>(static_cast<std::size_t>(options.num_hypotheses),
                                              {input.target_prefix, 0.0f, {}});
  }

  void run(std::span<const TranslationInput> inputs, const EncodedInputs& encoded, std::size_t first, std::size_t last,
           const CallOptions& call, const AbortFlag* abort, TranslationBatch& batch) {
    const std::size_t count = last - first;
    const transformer::SearchBatch part{std::span(encoded.sources).subspan(first, count),
                                        std::span(encoded.prefixes).subspan(first, count),
                                        std::span(encoded.starts).subspan(first, count)};
    transformer::SearchResults results = transformer::search(*executor_, kernels_, part, call.search, abort);
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t index = encoded.order[first + i];
      for (transformer::SearchHypothesis& hypothesis : results[i]) {
        batch.results[index].push_back(decode(hypothesis, inputs[index], call));
      }
    }
  }

  TranslationHypothesis decode(transformer::SearchHypothesis& hypothesis, const TranslationInput& input,
                               const CallOptions& call) const {
    while (!hypothesis.ids.empty() && hypothesis.ids.back() == call.search.end_id) hypothesis.ids.pop_back();
    for (auto& row : hypothesis.attention) drop_added(row);
    TranslationHypothesis result;
    result.score = hypothesis.score;
    for (std::size_t i = 0; i < hypothesis.ids.size(); ++i) {
      const bool is_replaced = call.options.replace_unknowns && hypothesis.ids[i] == call.search.unk_id;
      result.tokens.push_back(is_replaced ? most_attended(hypothesis.attention[i], input)
                                          : codec_.target().token(hypothesis.ids[i]));
    }
    if (!call.options.return_attention) return result;
    hypothesis.attention.resize(hypothesis.ids.size());
    result.attention = std::move(hypothesis.attention);
    return result;
  }

  // Keeps the positions of the caller's own tokens.
  void drop_added(std::vector<float>& attention) const {
    if (codec_.config().add_source_eos) attention.pop_back();
    if (codec_.config().add_source_bos) attention.erase(attention.begin());
  }

  static const std::string& most_attended(const std::vector<float>& attention, const TranslationInput& input) {
    return input.source[static_cast<std::size_t>(std::ranges::max_element(attention) - attention.begin())];
  }

  std::shared_ptr<const TranslationModel> owner_;
  const ModelFiles& files_;
  const TokenCodec& codec_;
  std::unique_ptr<transformer::Executor> executor_;
  const transformer::Kernels& kernels_;
};

}  // namespace

std::unique_ptr<Translator> make_ggml_translator(std::shared_ptr<const TranslationModel> owner, const ModelFiles& files,
                                                 std::unique_ptr<transformer::Executor> executor,
                                                 const transformer::Kernels& kernels) {
  return std::make_unique<GgmlTranslator>(std::move(owner), files, std::move(executor), kernels);
}

}  // namespace verbatim::translation
