#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace verbatim {

// The newest samples of a signal, by their positions in it.
class SampleBuffer {
 public:
  std::int64_t begin() const noexcept { return begin_; }
  std::int64_t end() const noexcept { return begin_ + static_cast<std::int64_t>(samples_.size()); }

  // Appends `count` zeros, to be written.
  std::span<float> grow(std::size_t count);
  // Drops the last ones.
  void shrink_by(std::size_t count) { samples_.resize(samples_.size() - count); }
  // Does nothing where they are dropped already.
  void drop_before(std::int64_t position);
  // Frees memory that is not in use, beyond a little.
  void compact();

  // [from, to) must be kept.
  std::span<const float> view(std::int64_t from, std::int64_t to) const;

  std::size_t memory_bytes() const noexcept { return samples_.capacity() * sizeof(float); }

 private:
  std::vector<float> samples_;
  std::int64_t begin_ = 0;
};

}  // namespace verbatim
