#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "file_identity.h"
#include "transformer/compute_type.h"
#include "transformer/cpu/weight_memory.h"
#include "transformer/weight_cache_options.h"

// A file of packed weights: a header, then the bytes of a WeightMemory. The header says what the weights are and from
// which model file they were packed, with checksums of itself, the model and the weights. Weights are only used if all
// of it is right, so a file that is stale, truncated or damaged costs no more than packing.
namespace verbatim::transformer {

// What weights are. Weights of another key are packed differently.
struct WeightKey {
  // Of the model, such as "decoder".
  std::string part;
  ComputeType type = ComputeType::kFloat32;
  // Of the WeightMemory.
  std::size_t bytes = 0;

  // "decoder-int8"
  std::string name() const;
};

// The file that weights are packed from.
struct WeightSource {
  FileIdentity identity;
  // Of its content. Called only where the identity does not suffice, and to write a file.
  std::function<std::uint64_t()> checksum;
};

struct WeightReading {
  // Filled, if the file was right.
  std::optional<WeightMemory> memory = {};
  bool is_shared = false;
  // What is wrong with the file; empty if it is right, missing or stale.
  std::string problem = {};
};

// Throws EngineError kOutOfMemory.
WeightReading read_weights(const std::filesystem::path& path, const WeightKey& key, const WeightSource& source,
                           WeightSharing sharing);

// Replaces the file in one step, or leaves it as it is. Throws EngineError kIoError.
void write_weights(const std::filesystem::path& path, const WeightKey& key, const WeightSource& source,
                   std::span<const std::byte> weights);

}  // namespace verbatim::transformer
