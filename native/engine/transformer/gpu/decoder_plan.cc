#include "transformer/gpu/decoder_plan.h"

#include <algorithm>
#include <bit>
#include <map>
#include <unordered_map>
#include <utility>

namespace verbatim::transformer {
namespace {

// Most tokens of one text in a run; a longer text is computed in parts.
constexpr std::size_t kMostTokens = 64;
constexpr std::size_t kPastBlock = 32;

constexpr std::size_t round_up(std::size_t count, std::size_t block) { return (count + block - 1) / block * block; }

// Few different sizes, so that graphs are reused, and little padding.
std::size_t padded(std::size_t count) { return count <= 8 ? std::bit_ceil(count) : round_up(count, 8); }

std::size_t padded_positions(std::size_t count) {
  return round_up(count, std::max(kPastBlock, std::bit_floor(count) / 4));
}

// The rows of each text, in the order of the step.
std::vector<GpuTextRows> rows_of_texts(std::span<const DecoderInput> rows) {
  std::vector<GpuTextRows> texts;
  std::unordered_map<const History*, std::size_t> index;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto [found, is_new] = index.try_emplace(rows[i].history, texts.size());
    if (is_new) texts.push_back({static_cast<const GpuHistory*>(rows[i].history), 0, {}});
    texts[found->second].rows.push_back(i);
  }
  for (GpuTextRows& text : texts) text.first = text.history->length() - text.rows.size();
  return texts;
}

GpuTextRows part_of(const GpuTextRows& text, std::size_t begin) {
  const std::span rest = std::span(text.rows).subspan(begin);
  const auto part = rest.first(std::min(rest.size(), kMostTokens));
  return {text.history, text.first + begin, {part.begin(), part.end()}};
}

// Texts with similar numbers of tokens share a run.
std::vector<GpuRun> group_texts(std::span<const GpuTextRows> texts) {
  std::vector<GpuRun> runs;
  std::size_t longest = 0;
  for (const GpuTextRows& text : texts) longest = std::max(longest, text.rows.size());
  for (std::size_t begin = 0; begin < longest; begin += kMostTokens) {
    std::map<std::size_t, std::vector<GpuTextRows>> by_tokens;
    for (const GpuTextRows& text : texts) {
      if (text.rows.size() <= begin) continue;
      GpuTextRows part = part_of(text, begin);
      by_tokens[std::bit_ceil(part.rows.size())].push_back(std::move(part));
    }
    for (auto& [tokens, group] : by_tokens) {
      for (std::size_t i = 0; i < group.size(); ++i) {
        if (i % (kMostGpuRows / tokens) == 0) runs.emplace_back().shape.tokens = tokens;
        runs.back().texts.push_back(std::move(group[i]));
      }
    }
  }
  return runs;
}

void plan_texts(GpuRun& run, std::span<const DecoderInput> rows) {
  GpuDecoderShape& shape = run.shape;
  shape.texts = padded(run.texts.size());
  for (std::size_t t = 0; t < run.texts.size(); ++t) {
    const GpuTextRows& text = run.texts[t];
    shape.past = std::max(shape.past, round_up(text.first + text.rows.size(), kPastBlock));
    for (std::size_t i = 0; i < text.rows.size(); ++i) {
      if (!rows[text.rows[i]].wants_logits) continue;
      run.wanted.push_back(t * shape.tokens + i);
      run.wanted_rows.push_back(text.rows[i]);
    }
  }
  shape.wanted = std::min(padded(std::max<std::size_t>(run.wanted.size(), 1)), shape.rows());
}

// Sources in the order of their slots.
std::map<std::size_t, std::vector<std::size_t>> readers_of_slots(GpuRun& run, std::span<const DecoderInput> rows) {
  std::map<std::size_t, std::vector<std::size_t>> readers;
  for (std::size_t t = 0; t < run.texts.size(); ++t) {
    for (std::size_t i = 0; i < run.texts[t].rows.size(); ++i) {
      const auto& source = static_cast<const GpuCrossCache&>(*rows[run.texts[t].rows[i]].source);
      readers[source.slot()].push_back(t * run.shape.tokens + i);
      run.shape.positions = std::max(run.shape.positions, source.positions());
    }
  }
  return readers;
}

void plan_sources(GpuRun& run, std::span<const DecoderInput> rows, std::size_t slots, std::size_t positions) {
  GpuDecoderShape& shape = run.shape;
  auto readers = readers_of_slots(run, rows);
  shape.positions = std::min(padded_positions(shape.positions), positions);
  // Reading a few unneeded sources costs no more than fetching the needed ones.
  const std::size_t first_slots = std::min(padded(readers.rbegin()->first + 1), slots);
  shape.sources = padded(readers.size());
  shape.fetches_sources = first_slots > 2 * shape.sources;
  if (!shape.fetches_sources) shape.sources = first_slots;
  run.readers.resize(shape.sources);
  for (auto& [slot, its_rows] : readers) {
    shape.queries = std::max(shape.queries, std::bit_ceil(its_rows.size()));
    run.readers[shape.fetches_sources ? run.slots.size() : slot] = std::move(its_rows);
    run.slots.push_back(slot);
  }
}

}  // namespace

std::vector<GpuRun> plan_runs(std::span<const DecoderInput> rows, std::size_t slots, std::size_t positions,
                              std::span<const AttentionHead> recorded) {
  std::vector<GpuRun> runs = group_texts(rows_of_texts(rows));
  for (GpuRun& run : runs) {
    run.shape.recorded.assign(recorded.begin(), recorded.end());
    plan_texts(run, rows);
    plan_sources(run, rows, slots, positions);
  }
  return runs;
}

std::size_t most_padding(std::size_t rows) { return std::min(4 * rows, kMostGpuRows); }

}  // namespace verbatim::transformer
