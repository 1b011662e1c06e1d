#include <algorithm>
#include <optional>
#include <utility>

#include "audio/containers/flac_header.h"
#include "audio/containers/tracks.h"
#include "audio/decoding/decoder.h"
#include "audio/decoding/sndfile_decoder.h"
#include "error.h"

namespace verbatim {
namespace {

[[noreturn]] void invalid(const std::string& message) {
  throw EngineError(ErrorCode::kInvalidAudio, "the FLAC file " + message);
}

FlacStreamInfo read_stream_info(ByteSource& bytes) {
  constexpr std::size_t kWanted = 4 + FlacStreamInfo::kBytes;
  const auto block = bytes.view(bytes.begin() + 4, kWanted);
  if (block.size() < kWanted) invalid("ends before its stream information");
  if ((block[0] & 0x7F) != 0) invalid("does not begin with its stream information");
  return FlacStreamInfo(block.subspan<4, FlacStreamInfo::kBytes>());
}

std::optional<std::int64_t> find_frame(ByteSource& bytes, std::int64_t from) {
  for (std::int64_t at = from; at < bytes.end();) {
    const auto window = bytes.view(at, 32 * 1024);
    if (window.empty()) break;
    for (std::size_t i = 0; i < window.size(); ++i) {
      if (window[i] == 0xFF && is_flac_frame_header(window.subspan(i))) return at + static_cast<std::int64_t>(i);
    }
    const auto step = static_cast<std::int64_t>(window.size());
    at += at + step >= bytes.end() ? step : step - static_cast<std::int64_t>(kLongestFlacFrameHeader - 1);
  }
  return std::nullopt;
}

// The first audio frame: behind the metadata, or, where the metadata's sizes are wrong, the first that is found.
std::optional<std::int64_t> first_frame(ByteSource& bytes) {
  std::int64_t at = bytes.begin() + 4;
  for (bool last = false; !last;) {
    const auto block = bytes.view(at, 4);
    if (block.size() < 4) break;
    last = (block[0] & 0x80) != 0;
    at += 4 + (block[1] << 16 | block[2] << 8 | block[3]);
  }
  if (is_flac_frame_header(bytes.view(at, kLongestFlacFrameHeader))) return at;
  const std::int64_t behind_stream_info = bytes.begin() + 8 + static_cast<std::int64_t>(FlacStreamInfo::kBytes);
  return find_frame(bytes, at < bytes.end() ? at : behind_stream_info);
}

// libsndfile stops at a damaged frame; the next decoder continues with the first whole frame behind it.
class FlacTrack final : public Track {
 public:
  FlacTrack(ByteSource bytes, std::vector<std::uint8_t> head, std::int64_t at)
      : bytes_(std::move(bytes)), head_(std::move(head)), at_(at) {}

  std::unique_ptr<Decoder> next() override {
    if (std::exchange(started_, true)) {
      const auto found = find_frame(bytes_, resume_point());
      if (!found) return nullptr;
      at_ = *found;
    }
    SndfileInput input;
    input.head = head_;
    input.ranges = {{at_, bytes_.end()}};
    return std::make_unique<Run>(*this, std::move(input));
  }

 private:
  // Its destructor reports to the track how far it has read.
  class Run final : public Decoder {
   public:
    Run(FlacTrack& track, SndfileInput input)
        : track_(track), decoder_(track.bytes_.file(), std::move(input), "flac", "flac") {}
    const AudioInfo& info() const noexcept override { return decoder_.info(); }
    std::size_t read(std::span<float> mono) override {
      const std::size_t frames = decoder_.read(mono);
      track_.reached_ = decoder_.position();
      return frames;
    }

   private:
    FlacTrack& track_;
    SndfileDecoder decoder_;
  };

  std::int64_t resume_point() const { return std::max(at_ + 2, reached_); }

  ByteSource bytes_;
  std::vector<std::uint8_t> head_;
  std::int64_t at_;
  std::int64_t reached_ = 0;
  bool started_ = false;
};

}  // namespace

std::unique_ptr<Track> open_flac(const ByteSource& bytes) {
  ByteSource parsed = bytes;
  const auto info = read_stream_info(parsed);
  check_format(info.sample_rate(), info.channels());
  const auto at = first_frame(parsed);
  if (!at) invalid("holds no audio frames");
  return std::make_unique<FlacTrack>(std::move(parsed), info.clean_header(), *at);
}

}  // namespace verbatim
