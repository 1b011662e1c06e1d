#include "audio/decoding/sndfile_decoder.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <exception>
#include <utility>

#include "error.h"

namespace verbatim {
namespace {

constexpr std::size_t kBlockFrames = 4096;
constexpr int kAttempts = 32;
// Far beyond any real signal; keeps sums and the resampler's arithmetic finite.
constexpr float kLoudest = 1e6f;

float sane(float sample) { return std::isfinite(sample) ? std::clamp(sample, -kLoudest, kLoudest) : 0.0f; }

}  // namespace

// Exceptions must not cross libsndfile's C frames: they are stored, and rethrown after the call.
class SndfileDecoder::VirtualFile {
 public:
  VirtualFile(std::shared_ptr<const File> file, SndfileInput input)
      : input_(std::move(input)), bytes_(file, 0, file->size()), size_(head_size()) {
    for (const ByteRange& range : input_.ranges) size_ += range.end - range.begin;
  }

  std::int64_t size() const { return size_; }

  // Offset in the file; at the end, the end of the last range.
  std::int64_t position() const {
    if (input_.ranges.empty()) return 0;
    if (range_ == input_.ranges.size()) return input_.ranges.back().end;
    return input_.ranges[range_].begin + std::max<std::int64_t>(0, at_ - range_start_);
  }

  void rethrow() {
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
  }

  static SF_VIRTUAL_IO callbacks() {
    return {[](void* self) { return static_cast<sf_count_t>(of(self).size()); },
            [](sf_count_t offset, int whence, void* self) { return of(self).seek(offset, whence); },
            [](void* out, sf_count_t count, void* self) { return of(self).read(out, count); },
            [](const void*, sf_count_t, void*) { return sf_count_t{0}; },
            [](void* self) { return static_cast<sf_count_t>(of(self).at_); }};
  }

 private:
  static VirtualFile& of(void* self) { return *static_cast<VirtualFile*>(self); }
  std::int64_t head_size() const { return static_cast<std::int64_t>(input_.head.size()); }

  sf_count_t seek(sf_count_t offset, int whence) {
    const std::int64_t base = whence == SEEK_CUR ? at_ : whence == SEEK_END ? size_ : 0;
    // Compared before it is added, since the offset may come from a header.
    at_ = offset > size_ - base ? size_ : offset < -base ? 0 : base + offset;
    if (at_ < range_start_) {
      range_ = 0;
      range_start_ = head_size();
    }
    return at_;
  }

  sf_count_t read(void* out, sf_count_t count) {
    auto* to = static_cast<std::uint8_t*>(out);
    sf_count_t done = 0;
    try {
      while (done < count) {
        const auto piece = next_piece(static_cast<std::size_t>(count - done));
        if (piece.empty()) break;
        std::memcpy(to + done, piece.data(), piece.size());
        done += static_cast<sf_count_t>(piece.size());
        at_ += static_cast<std::int64_t>(piece.size());
      }
    } catch (...) {
      failure_ = std::current_exception();
    }
    return done;
  }

  // Some bytes at at_, at most `most`; empty at the end.
  std::span<const std::uint8_t> next_piece(std::size_t most) {
    if (at_ < head_size()) {
      const auto rest = std::span<const std::uint8_t>(input_.head).subspan(static_cast<std::size_t>(at_));
      return rest.first(std::min(rest.size(), most));
    }
    for (; range_ < input_.ranges.size(); ++range_) {
      const ByteRange& range = input_.ranges[range_];
      const std::int64_t offset = range.begin + at_ - range_start_;
      if (offset < range.end) {
        return bytes_.view(offset, std::min(most, static_cast<std::size_t>(range.end - offset)));
      }
      range_start_ += range.end - range.begin;
    }
    return {};
  }

  SndfileInput input_;
  ByteSource bytes_;
  std::int64_t size_;
  std::int64_t at_ = 0;
  // The range that contains at_ or follows it, and its start in libsndfile's view.
  std::size_t range_ = 0;
  std::int64_t range_start_ = head_size();
  std::exception_ptr failure_;
};

SndfileDecoder::SndfileDecoder(std::shared_ptr<const File> file, SndfileInput input, std::string container,
                               std::string codec) {
  SF_INFO format{};
  format.format = input.raw_format;
  format.samplerate = input.sample_rate;
  format.channels = input.channels;
  io_ = std::make_unique<VirtualFile>(std::move(file), std::move(input));
  SF_VIRTUAL_IO callbacks = VirtualFile::callbacks();
  handle_.reset(sf_open_virtual(&callbacks, SFM_READ, &format, io_.get()));
  io_->rethrow();
  if (!handle_) {
    throw EngineError(ErrorCode::kInvalidAudio,
                      "the " + container + " stream cannot be decoded: " + sf_strerror(nullptr));
  }
  info_ = {std::move(container), std::move(codec), format.samplerate, format.channels};
  check_format(info_.sample_rate, info_.channels);
  expected_frames_ = format.frames;
  interleaved_.resize(kBlockFrames * static_cast<std::size_t>(info_.channels));
}

SndfileDecoder::~SndfileDecoder() = default;

const AudioInfo& SndfileDecoder::info() const noexcept { return info_; }

std::int64_t SndfileDecoder::position() const noexcept { return io_->position(); }

std::size_t SndfileDecoder::read(std::span<float> mono) {
  const auto channels = static_cast<std::size_t>(info_.channels);
  const auto wanted = static_cast<sf_count_t>(std::min(mono.size(), kBlockFrames));
  sf_count_t count = 0;
  // libsndfile delivers nothing at a damaged packet, and continues with the next packet when called again.
  for (int attempt = 0; attempt < kAttempts && count <= 0; ++attempt) {
    count = sf_readf_float(handle_.get(), interleaved_.data(), wanted);
    io_->rethrow();
  }
  const auto frames = static_cast<std::size_t>(std::clamp<sf_count_t>(count, 0, wanted));
  const float scale = 1.0f / static_cast<float>(channels);
  for (std::size_t frame = 0; frame < frames; ++frame) {
    float sum = 0;
    for (std::size_t channel = 0; channel < channels; ++channel) {
      sum += sane(interleaved_[frame * channels + channel]);
    }
    mono[frame] = sum * scale;
  }
  return frames;
}

}  // namespace verbatim
