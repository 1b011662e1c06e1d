#include "audio/live/sample_buffer.h"

#include <algorithm>

namespace verbatim {
namespace {

// Samples for which there is always room.
constexpr std::size_t kSpare = 2048;

}  // namespace

std::span<float> SampleBuffer::grow(std::size_t count) {
  const std::size_t before = samples_.size();
  const std::size_t after = before + count;
  if (after > samples_.capacity()) samples_.reserve(after + after / 8 + kSpare);
  samples_.resize(after);
  return std::span(samples_).subspan(before);
}

void SampleBuffer::drop_before(std::int64_t position) {
  const std::int64_t count = std::min(position, end()) - begin_;
  if (count <= 0) return;
  samples_.erase(samples_.begin(), samples_.begin() + count);
  begin_ += count;
}

void SampleBuffer::compact() {
  if (samples_.capacity() <= samples_.size() + 3 * kSpare) return;
  std::vector<float> smaller;
  smaller.reserve(samples_.size() + kSpare);
  smaller.assign(samples_.begin(), samples_.end());
  samples_.swap(smaller);
}

std::span<const float> SampleBuffer::view(std::int64_t from, std::int64_t to) const {
  return std::span(samples_).subspan(static_cast<std::size_t>(from - begin_), static_cast<std::size_t>(to - from));
}

}  // namespace verbatim
