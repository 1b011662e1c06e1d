#include "transformer/search/beam_search.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "transformer/search/hypothesis_score.h"
#include "transformer/search/logits_rules.h"

namespace verbatim::transformer {
namespace {

// Far below any log-probability and far above the lowest float.
constexpr float kHopeless = -1e10f;

struct Candidate {
  float score = 0.0f;
  // The beam that it continues, and the token that it adds.
  std::size_t beam = 0;
  TokenId id = 0;
};

// The best continuations of one beam, best first.
struct BeamContinuations {
  std::vector<TokenId> ids;
  std::vector<float> values;
  // log(sum(exp(logits)))
  float normalizer = 0.0f;
};

bool is_better(const Candidate& a, const Candidate& b) {
  if (a.score != b.score) return a.score > b.score;
  return a.beam != b.beam ? a.beam < b.beam : a.id < b.id;
}

// The beams of one sentence. Rules and numbers of steps are those of CTranslate2's decoding.cc.
class BeamSentence {
 public:
  // The first step has one beam, since all would be equal.
  BeamSentence(std::size_t index, const SearchBatch& batch, const SearchSettings& settings)
      : index_(index),
        source_length_(batch.sources[index].size()),
        prefix_(batch.prefixes[index]),
        settings_(settings),
        beams_(1),
        continuations_(1) {}

  std::size_t index() const { return index_; }
  std::size_t beam_count() const { return beams_.size(); }
  bool is_finished() const { return is_finished_; }

  // Finds the best continuations of one beam, for advance(). Beams may be processed at the same time.
  void on_logits(std::size_t beam, std::span<float> logits, const Kernels& kernels, const LogitsRules& rules) {
    BeamContinuations& best = continuations_[beam];
    const std::size_t count = std::min(2 * width(), logits.size());
    best.ids.resize(count);
    best.values.resize(count);
    rules.apply(logits, beams_[beam].ids);
    kernels.top_k(logits.data(), logits.size(), count, best.ids.data(), best.values.data());
    best.normalizer = kernels.log_sum_exp(logits.data(), logits.size(), best.values.front());
  }

  // Chooses the next beams once every beam has its logits. first_row: this sentence's first row of the step.
  void advance(const StepOutput& output, std::size_t first_row) {
    std::vector<Candidate> candidates = best_candidates();
    apply_prefix(candidates);
    const std::size_t step = beams_.front().ids.size();
    const bool is_last = step + 1 == settings_.max_length();
    select(candidates, is_last, output, first_row);
    is_finished_ = is_last || has_enough();
    continuations_.resize(beams_.size());
  }

  // Appends the rows of the next step; first_row: this sentence's first row of the last step.
  void append_rows(std::vector<DecoderRow>& rows, std::size_t first_row) const {
    for (std::size_t i = 0; i < beams_.size(); ++i) {
      rows.push_back({beams_[i].ids.back(), index_, first_row + origins_[i]});
    }
  }

  std::vector<SearchHypothesis> results() {
    for (SearchHypothesis& hypothesis : registered_) hypothesis.score = final_score(hypothesis, settings_.options);
    std::ranges::stable_sort(registered_, std::ranges::greater{}, &SearchHypothesis::score);
    const auto wanted = static_cast<std::size_t>(settings_.options.num_hypotheses);
    if (registered_.size() > wanted) registered_.resize(wanted);
    return std::move(registered_);
  }

 private:
  std::size_t width() const { return static_cast<std::size_t>(settings_.options.beam_size); }

  // The 2 * beam_size best continuations of all beams.
  std::vector<Candidate> best_candidates() const {
    std::vector<Candidate> candidates;
    for (std::size_t beam = 0; beam < beams_.size(); ++beam) {
      const BeamContinuations& best = continuations_[beam];
      for (std::size_t i = 0; i < best.ids.size(); ++i) {
        candidates.push_back({beams_[beam].score + (best.values[i] - best.normalizer), beam, best.ids[i]});
      }
    }
    const std::size_t kept = std::min(2 * width(), candidates.size());
    std::partial_sort(candidates.begin(), candidates.begin() + static_cast<std::ptrdiff_t>(kept), candidates.end(),
                      is_better);
    candidates.resize(kept);
    return candidates;
  }

  // While the prefix lasts, its token is the only continuation of the first beam. Directly behind it, an end token may
  // only come first.
  void apply_prefix(std::vector<Candidate>& candidates) const {
    const std::size_t step = beams_.front().ids.size();
    for (std::size_t i = 0; i < candidates.size() && !prefix_.empty(); ++i) {
      Candidate& candidate = candidates[i];
      if (step < prefix_.size()) {
        candidate = {i == 0 ? 0.0f : kHopeless, 0, prefix_[step]};
      } else if (step == prefix_.size() && i > 0 && candidate.id == settings_.end_id) {
        candidate.id = 0;
        candidate.score = kHopeless;
      }
    }
  }

  void select(const std::vector<Candidate>& candidates, bool is_last, const StepOutput& output, std::size_t first_row) {
    const std::size_t step = beams_.front().ids.size();
    const auto ends = [&](const Candidate& candidate) {
      return step >= prefix_.size() && candidate.id == settings_.end_id;
    };
    std::vector<SearchHypothesis> next;
    std::vector<std::size_t> origins;
    std::size_t spare = width();
    for (std::size_t i = 0; i < std::min(width(), candidates.size()); ++i) {
      std::size_t chosen = i;
      if (ends(candidates[i]) || is_last) {
        registered_.push_back(extended(candidates[i], output, first_row));
        if (i == 0) first_has_ended_ = true;
        while (spare < candidates.size() && ends(candidates[spare])) ++spare;
        if (spare < candidates.size()) chosen = spare++;
      }
      next.push_back(extended(candidates[chosen], output, first_row));
      origins.push_back(candidates[chosen].beam);
    }
    beams_ = std::move(next);
    origins_ = std::move(origins);
  }

  SearchHypothesis extended(const Candidate& candidate, const StepOutput& output, std::size_t first_row) const {
    SearchHypothesis hypothesis = beams_[candidate.beam];
    hypothesis.ids.push_back(candidate.id);
    hypothesis.score = candidate.score;
    if (output.attention) {
      hypothesis.attention.push_back(attention_row(output, first_row + candidate.beam, source_length_));
    }
    return hypothesis;
  }

  bool has_enough() const {
    const SearchOptions& options = settings_.options;
    // Without normalization no later hypothesis can be better than the best one.
    if (options.length_penalty == 0.0f && options.coverage_penalty == 0.0f) {
      return first_has_ended_ && registered_.size() >= static_cast<std::size_t>(options.num_hypotheses);
    }
    const long enough = std::lround(static_cast<float>(options.beam_size) * options.patience);
    return registered_.size() >= static_cast<std::size_t>(enough);
  }

  std::size_t index_;
  std::size_t source_length_;
  const std::vector<TokenId>& prefix_;
  const SearchSettings& settings_;
  std::vector<SearchHypothesis> beams_;
  std::vector<BeamContinuations> continuations_;
  // The previous step's beam that each beam continues.
  std::vector<std::size_t> origins_;
  std::vector<SearchHypothesis> registered_;
  bool first_has_ended_ = false;
  bool is_finished_ = false;
};

}  // namespace

SearchResults beam_search(Executor& executor, const Kernels& kernels, const SearchBatch& batch,
                          const SearchSettings& settings, const AbortFlag* abort) {
  const auto width = static_cast<std::size_t>(settings.options.beam_size);
  const std::size_t count = batch.sources.size();
  executor.start({batch.sources, count * width, settings.needs_attention()}, abort);
  const LogitsRules rules(settings);
  std::vector<std::unique_ptr<BeamSentence>> live;
  std::vector<DecoderRow> rows;
  for (std::size_t i = 0; i < count; ++i) {
    live.push_back(std::make_unique<BeamSentence>(i, batch, settings));
    rows.push_back({batch.starts[i], i, 0});
  }
  SearchResults results(count);
  // Every unfinished sentence has the same number of beams.
  const LogitsCallback on_logits = [&](std::size_t row, std::span<float> logits) {
    const std::size_t beams = rows.size() / live.size();
    live[row / beams]->on_logits(row % beams, logits, kernels, rules);
  };
  while (!live.empty()) {
    const StepOutput output = executor.step(rows, on_logits, abort);
    rows.clear();
    std::size_t first_row = 0;
    for (const auto& sentence : live) {
      const std::size_t beams = sentence->beam_count();
      sentence->advance(output, first_row);
      if (sentence->is_finished()) {
        results[sentence->index()] = sentence->results();
      } else {
        sentence->append_rows(rows, first_row);
      }
      first_row += beams;
    }
    std::erase_if(live, [](const auto& sentence) { return sentence->is_finished(); });
  }
  return results;
}

}  // namespace verbatim::transformer
