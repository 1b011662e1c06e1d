#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace verbatim::random_models {

// Uniform in [-1, 1). Standard engines give the same numbers everywhere; standard distributions do not.
class Noise {
 public:
  explicit Noise(std::uint32_t seed) : engine_(seed) {}
  float next() { return static_cast<float>(engine_() >> 8) * (2.0f / 16777216.0f) - 1.0f; }

 private:
  std::mt19937 engine_;
};

inline std::vector<float> noise(std::size_t count, std::uint32_t seed) {
  Noise source(seed);
  std::vector<float> values(count);
  for (float& value : values) value = source.next();
  return values;
}

}  // namespace verbatim::random_models
