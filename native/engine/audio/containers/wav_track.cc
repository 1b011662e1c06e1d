#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "audio/containers/tracks.h"
#include "audio/containers/wav_header.h"
#include "audio/decoding/bytes.h"
#include "audio/decoding/decoder.h"
#include "audio/decoding/fixed_length_decoder.h"
#include "audio/decoding/sndfile_decoder.h"
#include "error.h"

namespace verbatim {
namespace {

struct Encoding {
  int format;
  std::string codec;
  int bytes;
};

[[noreturn]] void invalid(const std::string& message) {
  throw EngineError(ErrorCode::kInvalidAudio, "the WAV file " + message);
}

// The sample's container counts: 20 bits in 3 bytes, or 24 in 4, are left-justified.
int sample_bytes(const WavHeader& header) {
  const int from_bits = (header.bits_per_sample + 7) / 8;
  const int from_block = header.block_align / header.channels;
  const bool fits = header.block_align % header.channels == 0 && from_block >= from_bits && from_block <= 8;
  return fits && from_block > 0 ? from_block : from_bits;
}

Encoding pcm_encoding(const WavHeader& header) {
  switch (sample_bytes(header)) {
    case 1:
      return {SF_FORMAT_PCM_U8, "pcm_u8", 1};
    case 2:
      return {SF_FORMAT_PCM_16, "pcm_s16", 2};
    case 3:
      return {SF_FORMAT_PCM_24, "pcm_s24", 3};
    case 4:
      return {SF_FORMAT_PCM_32, "pcm_s32", 4};
    default:
      invalid("says " + std::to_string(header.bits_per_sample) + " bits a sample; PCM has 1 to 32");
  }
}

Encoding float_encoding(const WavHeader& header) {
  const int bytes = sample_bytes(header);
  if (bytes == 4) return {SF_FORMAT_FLOAT, "float", 4};
  if (bytes == 8) return {SF_FORMAT_DOUBLE, "double", 8};
  invalid("says " + std::to_string(header.bits_per_sample) + " bits a sample; floating point has 32 or 64");
}

// Plain samples without a header, decoded by libsndfile's raw mode; any file size.
class PlainDecoder final : public Decoder {
 public:
  PlainDecoder(std::shared_ptr<const File> file, SndfileInput input, std::int64_t frames, std::string codec)
      : frames_left_(frames), decoder_(std::move(file), std::move(input), "wav", std::move(codec)) {}

  const AudioInfo& info() const noexcept override { return decoder_.info(); }
  std::size_t read(std::span<float> mono) override { return decoder_.read(mono); }
  // Every frame has a known size, so nothing needs decoding.
  std::int64_t skip() override { return std::exchange(frames_left_, 0); }

 private:
  std::int64_t frames_left_;
  SndfileDecoder decoder_;
};

std::unique_ptr<Decoder> open_plain(const std::shared_ptr<const File>& file, const WavHeader& header,
                                    const Encoding& encoding) {
  const std::int64_t frame_bytes = static_cast<std::int64_t>(encoding.bytes) * header.channels;
  const std::int64_t frames = (header.data_end - header.data_begin) / frame_bytes;
  SndfileInput input;
  input.ranges = {{header.data_begin, header.data_begin + frames * frame_bytes}};
  input.raw_format = SF_FORMAT_RAW | encoding.format | (header.big_endian ? SF_ENDIAN_BIG : SF_ENDIAN_LITTLE);
  input.sample_rate = static_cast<int>(header.sample_rate);
  input.channels = header.channels;
  return std::make_unique<PlainDecoder>(file, std::move(input), frames, encoding.codec);
}

// Samples in one block of a block codec (formulas of the codecs' WAVE registrations); 0 if the block cannot hold its
// own header.
int samples_per_block(const WavHeader& header) {
  const int channels = header.channels;
  if (header.format == WavHeader::kGsm610) return header.block_align == 65 && channels == 1 ? 320 : 0;
  const int preamble = (header.format == WavHeader::kMsAdpcm ? 7 : 4) * channels;
  if (channels > 2 || header.block_align <= preamble) return 0;
  return (header.block_align - preamble) * 2 / channels + (header.format == WavHeader::kMsAdpcm ? 2 : 1);
}

void append_ms_adpcm_coefficients(std::vector<std::uint8_t>& out) {
  constexpr std::array<std::pair<int, int>, 7> kCoefficients = {
      {{256, 0}, {512, -256}, {0, 0}, {192, 64}, {240, 0}, {460, -208}, {392, -232}}};
  append_le16(out, kCoefficients.size());
  for (const auto& [first, second] : kCoefficients) {
    append_le16(out, static_cast<std::uint16_t>(first));
    append_le16(out, static_cast<std::uint16_t>(second));
  }
}

// A new header in front of the blocks, without any field that could be wrong.
std::vector<std::uint8_t> block_codec_header(const WavHeader& header, int samples, std::uint32_t data_size) {
  std::vector<std::uint8_t> extra;
  append_le16(extra, static_cast<std::uint32_t>(samples));
  if (header.format == WavHeader::kMsAdpcm) append_ms_adpcm_coefficients(extra);
  const auto rate = static_cast<std::uint32_t>(header.sample_rate);
  std::vector<std::uint8_t> out;
  append_text(out, "RIFF");
  append_le32(out, data_size + static_cast<std::uint32_t>(38 + extra.size()));
  append_text(out, "WAVEfmt ");
  append_le32(out, static_cast<std::uint32_t>(18 + extra.size()));
  append_le16(out, header.format);
  append_le16(out, static_cast<std::uint32_t>(header.channels));
  append_le32(out, rate);
  append_le32(out, static_cast<std::uint32_t>(std::uint64_t{rate} * static_cast<std::uint32_t>(header.block_align) /
                                              static_cast<std::uint32_t>(samples)));
  append_le16(out, static_cast<std::uint32_t>(header.block_align));
  append_le16(out, header.format == WavHeader::kGsm610 ? 0 : 4);
  append_le16(out, static_cast<std::uint32_t>(extra.size()));
  out.insert(out.end(), extra.begin(), extra.end());
  append_text(out, "data");
  append_le32(out, data_size);
  return out;
}

std::unique_ptr<Decoder> open_blocks(const std::shared_ptr<const File>& file, const WavHeader& header,
                                     std::string codec) {
  const int samples = samples_per_block(header);
  if (samples == 0) {
    invalid("says " + codec + " with " + std::to_string(header.channels) + " channels in blocks of " +
            std::to_string(header.block_align) + " bytes, which cannot be");
  }
  const std::int64_t most = std::numeric_limits<std::uint32_t>::max() - 1024;
  const std::int64_t blocks = std::min(header.data_end - header.data_begin, most) / header.block_align;
  if (blocks == 0) invalid("holds no whole block of " + codec);
  SndfileInput input;
  input.ranges = {{header.data_begin, header.data_begin + blocks * header.block_align}};
  input.head = block_codec_header(header, samples, static_cast<std::uint32_t>(blocks * header.block_align));
  auto decoder = std::make_unique<SndfileDecoder>(file, std::move(input), "wav", std::move(codec));
  // Every block holds the same number of frames, so counting needs no decoding.
  std::int64_t frames = blocks * samples;
  const std::int64_t filling = frames - header.fact_frames;
  if (header.fact_frames > 0 && filling >= 0 && filling < 2 * samples) frames = header.fact_frames;
  return std::make_unique<FixedLengthDecoder>(std::move(decoder), frames);
}

std::unique_ptr<Decoder> open_samples(const std::shared_ptr<const File>& file, const WavHeader& header) {
  switch (header.format) {
    case WavHeader::kPcm:
      return open_plain(file, header, pcm_encoding(header));
    case WavHeader::kFloat:
      return open_plain(file, header, float_encoding(header));
    case WavHeader::kALaw:
      return open_plain(file, header, {SF_FORMAT_ALAW, "alaw", 1});
    case WavHeader::kMuLaw:
      return open_plain(file, header, {SF_FORMAT_ULAW, "ulaw", 1});
    case WavHeader::kMsAdpcm:
      return open_blocks(file, header, "ms_adpcm");
    case WavHeader::kImaAdpcm:
      return open_blocks(file, header, "ima_adpcm");
    case WavHeader::kGsm610:
      return open_blocks(file, header, "gsm610");
    default:
      throw EngineError(ErrorCode::kUnsupportedAudioFormat,
                        "the WAV file holds codec " + std::to_string(header.format) +
                            "; PCM, floating point, A-law, mu-law, MS and IMA ADPCM, GSM 6.10 and MP3 are decoded");
  }
}

class WavTrack final : public Track {
 public:
  WavTrack(std::shared_ptr<const File> file, const WavHeader& header) : file_(std::move(file)), header_(header) {}

  std::unique_ptr<Decoder> next() override {
    if (std::exchange(done_, true)) return nullptr;
    return open_samples(file_, header_);
  }

 private:
  std::shared_ptr<const File> file_;
  WavHeader header_;
  bool done_ = false;
};

}  // namespace

std::unique_ptr<Track> open_wav(const ByteSource& bytes) {
  ByteSource parsed = bytes;
  const WavHeader header = read_wav_header(parsed);
  // Checked before anything is computed from them.
  check_format(header.sample_rate, header.channels);
  if (header.data_end == header.data_begin) invalid("holds no samples");
  if (header.format == WavHeader::kMp3) {
    return open_mp3(ByteSource(bytes.file(), header.data_begin, header.data_end));
  }
  return std::make_unique<WavTrack>(bytes.file(), header);
}

}  // namespace verbatim
