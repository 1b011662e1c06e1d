// MP3 is decoded by libmpg123 directly, not through libsndfile (1.2). Without a Xing header libsndfile trusts a guessed
// length and cuts the audio there; it also lets libmpg123 print to stderr.
#include <mpg123.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "audio/containers/mp3_frame.h"
#include "audio/containers/tracks.h"
#include "audio/decoding/decoder.h"
#include "error.h"

namespace verbatim {
namespace {

// Delay of a layer III decoder in samples, besides the encoder's (the LAME tag's convention).
constexpr std::int64_t kDecoderDelay = 529;
constexpr int kFramesPerSkip = 4096;

// Removes the encoder's and decoder's padding around the audio by counting samples.
class GaplessTrim {
 public:
  explicit GaplessTrim(const Mp3InfoFrame& info)
      : frames_(info.frames),
        front_(info.delay > 0 || info.padding > 0 ? info.delay + kDecoderDelay : 0),
        tail_(info.frames > 0 ? std::max<std::int64_t>(0, info.padding - kDecoderDelay) : 0) {}

  void add(std::int64_t samples) {
    ++seen_;
    pending_ += samples;
  }
  // The tail is cut only if the file holds as many frames as its tag declares.
  void finish() {
    if (seen_ == frames_) pending_ = std::max<std::int64_t>(0, pending_ - tail_);
    tail_ = 0;
  }
  // Samples to drop from the front now.
  std::int64_t take_front() {
    const std::int64_t dropped = std::min(front_, pending_);
    front_ -= dropped;
    pending_ -= dropped;
    return dropped;
  }
  // Samples that may be delivered now.
  std::int64_t available() const { return front_ > 0 ? 0 : std::max<std::int64_t>(0, pending_ - tail_); }
  void deliver(std::int64_t samples) { pending_ -= samples; }

 private:
  const std::uint32_t frames_;
  std::int64_t front_;
  std::int64_t tail_;
  std::uint32_t seen_ = 0;
  std::int64_t pending_ = 0;
};

class Mpg123 {
 public:
  Mpg123() : handle_(mpg123_new(nullptr, nullptr)) {
    if (!handle_) throw EngineError(ErrorCode::kOutOfMemory, "no memory for an MP3 decoder");
    mpg123_param(handle_.get(), MPG123_REMOVE_FLAGS, MPG123_GAPLESS | MPG123_AUTO_RESAMPLE, 0);
    mpg123_param(handle_.get(), MPG123_ADD_FLAGS,
                 MPG123_QUIET | MPG123_FORCE_FLOAT | MPG123_MONO_MIX | MPG123_IGNORE_INFOFRAME | MPG123_NO_READAHEAD,
                 0);
    if (mpg123_open_feed(handle_.get()) != MPG123_OK) {
      throw EngineError(ErrorCode::kInternalError, "libmpg123 does not open a feed");
    }
  }

  // Appends exactly `samples` samples. A frame that cannot be decoded becomes silence, so that times stay right.
  void decode(std::span<const std::uint8_t> frame, std::size_t samples, std::vector<float>& out) {
    const std::size_t target = out.size() + samples;
    mpg123_feed(handle_.get(), frame.data(), frame.size());
    for (int attempt = 0; attempt < 8 && out.size() < target; ++attempt) {
      unsigned char* audio = nullptr;
      std::size_t bytes = 0;
      const int status = mpg123_decode_frame(handle_.get(), nullptr, &audio, &bytes);
      if (audio != nullptr && bytes > 0) {
        const auto* decoded = reinterpret_cast<const float*>(audio);
        out.insert(out.end(), decoded, decoded + std::min(bytes / sizeof(float), target - out.size()));
      }
      if (status != MPG123_OK && status != MPG123_NEW_FORMAT) break;
    }
    out.resize(target, 0.0f);
  }

 private:
  struct Delete {
    void operator()(mpg123_handle* handle) const { mpg123_delete(handle); }
  };
  std::unique_ptr<mpg123_handle, Delete> handle_;
};

// One run of frames with one sample rate.
class Mp3Decoder final : public Decoder {
 public:
  Mp3Decoder(Mp3Scanner& scanner, const Mp3Header& header, const Mp3InfoFrame& info)
      : scanner_(scanner), header_(header), trim_(info) {
    info_ = {"mp3", "mp3", header.sample_rate, header.channels};
    check_format(info_.sample_rate, info_.channels);
  }

  const AudioInfo& info() const noexcept override { return info_; }

  std::size_t read(std::span<float> mono) override {
    while (trim_.available() == 0 && advance()) {
      mpg123_.decode(scanner_.bytes_of(frame_), static_cast<std::size_t>(header_.samples), samples_);
      trim_.add(header_.samples);
      drop(trim_.take_front());
    }
    const std::size_t count = std::min(mono.size(), static_cast<std::size_t>(trim_.available()));
    std::copy_n(samples_.begin(), count, mono.begin());
    drop(static_cast<std::int64_t>(count));
    trim_.deliver(static_cast<std::int64_t>(count));
    return count;
  }

  // Every frame yields the same number of samples, so only the headers are read.
  std::int64_t skip() override {
    for (int i = 0; (i < kFramesPerSkip || trim_.available() == 0) && advance(); ++i) {
      trim_.add(header_.samples);
      trim_.take_front();
    }
    const std::int64_t count = trim_.available();
    trim_.deliver(count);
    return count;
  }

 private:
  // Moves to the next frame with audio; false at the end of the run.
  bool advance() {
    while (!ended_) {
      const auto frame = scanner_.next();
      if (frame && frame->header.continues(header_)) {
        if (parse_mp3_info_frame(scanner_.bytes_of(*frame), frame->header)) continue;
        frame_ = *frame;
        return true;
      }
      if (frame) scanner_.back();
      trim_.finish();
      ended_ = true;
    }
    return false;
  }

  void drop(std::int64_t count) { samples_.erase(samples_.begin(), samples_.begin() + count); }

  Mp3Scanner& scanner_;
  Mp3Header header_;
  GaplessTrim trim_;
  AudioInfo info_;
  Mpg123 mpg123_;
  Mp3Frame frame_;
  std::vector<float> samples_;
  bool ended_ = false;
};

class Mp3Track final : public Track {
 public:
  explicit Mp3Track(ByteSource bytes) : scanner_(std::move(bytes)) {}

  std::unique_ptr<Decoder> next() override {
    const auto frame = scanner_.next();
    if (!frame) return nullptr;
    const auto info = parse_mp3_info_frame(scanner_.bytes_of(*frame), frame->header);
    if (!info) scanner_.back();
    return std::make_unique<Mp3Decoder>(scanner_, frame->header, info.value_or(Mp3InfoFrame{}));
  }

 private:
  Mp3Scanner scanner_;
};

}  // namespace

std::unique_ptr<Track> open_mp3(const ByteSource& bytes) { return std::make_unique<Mp3Track>(bytes); }

}  // namespace verbatim
