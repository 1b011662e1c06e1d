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

// What libsndfile gets to see of a file: bytes made up by the container's parser, then ranges of the file, in
// ascending order. Headers that could lie to libsndfile never reach it as they are.
struct SndfileInput {
  std::vector<std::uint8_t> head;
  std::vector<ByteRange> ranges;
  // For headerless samples: SF_FORMAT_RAW | encoding, with rate and channels. 0: libsndfile reads a header.
  int raw_format = 0;
  int sample_rate = 0;
  int channels = 0;
};

// A Decoder on libsndfile.
class SndfileDecoder final : public Decoder {
 public:
  // `container` and `codec` go into info(). Throws EngineError kInvalidAudio with libsndfile's own words.
  SndfileDecoder(std::shared_ptr<const File> file, SndfileInput input, std::string container,
                 std::string codec);
  ~SndfileDecoder() override;

  const AudioInfo& info() const noexcept override;
  std::size_t read(std::span<float> mono) override;

  // Frames that libsndfile expects, from headers; a huge number when they do not say. It never delivers more.
  std::int64_t expected_frames() const noexcept { return expected_frames_; }

  // How far into the file libsndfile has read, bytes; read-ahead included.
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
