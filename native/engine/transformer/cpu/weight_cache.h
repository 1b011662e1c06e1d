#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "mapped_file.h"
#include "transformer/cpu/weight_file.h"
#include "transformer/weight_cache_options.h"
#include "transformer/weight_cache_report.h"

namespace verbatim::transformer {

// Loads the weights of one model: from the files of an earlier start, or by packing them and writing these files. What
// goes wrong with files costs time, and never the start. One thread.
class WeightCache {
 public:
  // Without a cache.
  WeightCache() = default;
  // To be made before the model's file is opened.
  WeightCache(WeightCacheOptions options, std::filesystem::path model);

  // Returns pack(WeightMemory), a std::unique_ptr<const Weights> with the function memory(). pack may be called twice.
  // Throws as it does, and EngineError kOutOfMemory.
  template <typename Weights, typename Pack>
  std::unique_ptr<const Weights> load(const WeightKey& key, const MappedFile& model, const Pack& pack) {
    if (!is_on()) return pack(WeightMemory(key.bytes));
    if (std::optional<WeightMemory> found = find(key, model)) return pack(std::move(*found));
    std::unique_ptr<const Weights> weights = pack(WeightMemory(key.bytes));
    std::optional<WeightMemory> shared = write(key, model, weights->memory().bytes());
    if (!shared) return weights;
    weights.reset();
    return pack(std::move(*shared));
  }

  bool is_on() const noexcept { return !options_.directory.empty(); }
  const WeightCacheReport& report() const noexcept { return report_; }

 private:
  std::optional<WeightMemory> find(const WeightKey& key, const MappedFile& model);
  // Returns the written weights if they can be shared.
  std::optional<WeightMemory> write(const WeightKey& key, const MappedFile& model, std::span<const std::byte> weights);
  void check_room(std::size_t bytes) const;
  void check_unchanged(const MappedFile& model) const;
  std::filesystem::path path_of(const WeightKey& key) const { return options_.directory / (key.name() + ".weights"); }
  WeightSource source_of(const MappedFile& model);
  void add_problem(const WeightKey& key, const std::string& problem);

  WeightCacheOptions options_;
  std::filesystem::path model_;
  // When the cache was made: nanoseconds since 1970, by the system's clock.
  std::int64_t started_ = 0;
  // Of the model's content, once it was needed.
  std::optional<std::uint64_t> model_checksum_;
  WeightCacheReport report_;
};

}  // namespace verbatim::transformer
