#pragma once

#include <sndfile.h>

#include <memory>
#include <vector>

#include "audio/decoding/decoder.h"
#include "audio/decoding/file.h"

namespace verbatim {

struct ByteRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

// libsndfile's view of a file: bytes made by the container's parser, then ranges of the file in ascending order.
// Headers with possibly wrong values are not passed on unchanged.
struct SndfileInput {
  std::vector<std::uint8_t> head;
  std::vector<ByteRange> ranges;
  // For samples without a header: SF_FORMAT_RAW | encoding, with rate and channels. 0: libsndfile reads a header.
  int raw_format = 0;
  int sample_rate = 0;
  int channels = 0;
};

// A Decoder on libsndfile.
class SndfileDecoder final : public Decoder {
 public:
  // `container` and `codec` are copied to info(). Throws EngineError kInvalidAudio with libsndfile's message.
  SndfileDecoder(std::shared_ptr<const File> file, SndfileInput input, std::string container, std::string codec);
  ~SndfileDecoder() override;

  const AudioInfo& info() const noexcept override;
  std::size_t read(std::span<float> mono) override;

  // Number of frames by the headers; a huge number if they have none. libsndfile never delivers more.
  std::int64_t expected_frames() const noexcept { return expected_frames_; }

  // Bytes of the file that libsndfile has read, read-ahead included.
  std::int64_t position() const noexcept;

 private:
  class VirtualFile;
  struct Close {
    void operator()(SNDFILE* handle) const { sf_close(handle); }
  };

  std::unique_ptr<VirtualFile> io_;
  std::unique_ptr<SNDFILE, Close> handle_;
  AudioInfo info_;
  std::int64_t expected_frames_ = 0;
  std::vector<float> interleaved_;
};

}  // namespace verbatim
