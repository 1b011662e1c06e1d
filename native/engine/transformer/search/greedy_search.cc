#include "transformer/search/greedy_search.h"

#include "transformer/search/hypothesis_score.h"
#include "transformer/search/logits_rules.h"

namespace verbatim::transformer {
namespace {

class GreedySearch {
 public:
  GreedySearch(Executor& executor, const Kernels& kernels, const SearchBatch& batch, const SearchSettings& settings)
      : executor_(executor),
        kernels_(kernels),
        batch_(batch),
        settings_(settings),
        rules_(settings),
        hypotheses_(batch.sources.size()) {}

  SearchResults run(const AbortFlag* abort) {
    executor_.start({batch_.sources, batch_.sources.size(), settings_.needs_attention()}, abort);
    std::vector<DecoderRow> rows;
    for (std::size_t i = 0; i < batch_.sources.size(); ++i) rows.push_back({batch_.starts[i], i, 0});
    const LogitsCallback on_logits = [&](std::size_t row, std::span<float> logits) {
      const std::size_t sentence = rows[row].sentence;
      extend(hypotheses_[sentence], batch_.prefixes[sentence], logits);
    };
    while (!rows.empty()) rows = advance(rows, executor_.step(rows, on_logits, abort));
    return finish();
  }

 private:
  void extend(SearchHypothesis& hypothesis, const std::vector<TokenId>& prefix, std::span<float> logits) const {
    const std::size_t step = hypothesis.ids.size();
    if (step < prefix.size()) {
      hypothesis.ids.push_back(prefix[step]);
      return;
    }
    rules_.apply(logits, hypothesis.ids);
    TokenId best;
    float logit;
    kernels_.top_k(logits.data(), logits.size(), 1, &best, &logit);
    hypothesis.score += logit - kernels_.log_sum_exp(logits.data(), logits.size(), logit);
    hypothesis.ids.push_back(best);
  }

  bool is_finished(const SearchHypothesis& hypothesis, const std::vector<TokenId>& prefix) const {
    const std::size_t length = hypothesis.ids.size();
    return length == settings_.max_length() || (length > prefix.size() && hypothesis.ids.back() == settings_.end_id);
  }

  // The rows of the next step.
  std::vector<DecoderRow> advance(const std::vector<DecoderRow>& rows, const StepOutput& output) {
    std::vector<DecoderRow> next;
    for (std::size_t row = 0; row < rows.size(); ++row) {
      const std::size_t sentence = rows[row].sentence;
      SearchHypothesis& hypothesis = hypotheses_[sentence];
      if (output.attention) {
        hypothesis.attention.push_back(attention_row(output, row, batch_.sources[sentence].size()));
      }
      if (is_finished(hypothesis, batch_.prefixes[sentence])) continue;
      next.push_back({hypothesis.ids.back(), sentence, row});
    }
    return next;
  }

  SearchResults finish() {
    SearchResults results;
    for (SearchHypothesis& hypothesis : hypotheses_) {
      hypothesis.score = final_score(hypothesis, settings_.options);
      results.emplace_back().push_back(std::move(hypothesis));
    }
    return results;
  }

  Executor& executor_;
  const Kernels& kernels_;
  const SearchBatch& batch_;
  const SearchSettings& settings_;
  LogitsRules rules_;
  std::vector<SearchHypothesis> hypotheses_;
};

}  // namespace

SearchResults greedy_search(Executor& executor, const Kernels& kernels, const SearchBatch& batch,
                            const SearchSettings& settings, const AbortFlag* abort) {
  return GreedySearch(executor, kernels, batch, settings).run(abort);
}

}  // namespace verbatim::transformer
