#include <doctest/doctest.h>

#include <cmath>

#include "audio/decoded_audio.h"

using namespace verbatim;
using namespace verbatim::test;

namespace {

// A canonical WAV file of 16-bit PCM: 'fmt ' at 12, 'data' at 36, samples at 44.
class Wav {
 public:
  Bytes bytes() const {
    return read_file(
        write_audio(directory_ / "whole.wav", SF_FORMAT_WAV | SF_FORMAT_PCM_16, 16000, 1, tone(1.0, 16000, 440)));
  }
  std::filesystem::path put(const Bytes& bytes) const { return directory_.put("changed.wav", bytes); }
  std::optional<ErrorCode> refused(const Bytes& bytes, std::string* message = nullptr) const {
    return refusal(put(bytes), message);
  }

 private:
  TemporaryDirectory directory_;
};

constexpr std::size_t kChannels = 22;
constexpr std::size_t kRate = 24;
constexpr std::size_t kBlockAlign = 32;
constexpr std::size_t kBits = 34;
constexpr std::size_t kDataSize = 40;
constexpr std::size_t kSamples = 44;

}  // namespace

TEST_CASE("a wrong data size is corrected by the file's size") {
  const Wav wav;
  for (const auto& size : std::vector<std::vector<int>>{
           {0xFF, 0xFF, 0xFF, 0xFF}, {0xFE, 0xFF, 0xFF, 0xFF}, {0, 0, 0, 0x80}, {0, 0, 0, 0}}) {
    Bytes bytes = wav.bytes();
    patch(bytes, kDataSize, size);
    const DecodedAudio decoded = decode_file(wav.put(bytes));
    CHECK(decoded.seconds == 1.0);
    CHECK(level_at(decoded.samples, 440) == doctest::Approx(0.354).epsilon(0.01));
  }
  Bytes bytes = wav.bytes();
  patch(bytes, 4, {0, 0, 0, 0});
  CHECK(decode_file(wav.put(bytes)).seconds == 1.0);
}

TEST_CASE("a data size below the file's is accepted: other chunks may follow") {
  const Wav wav;
  Bytes bytes = wav.bytes();
  patch(bytes, kDataSize, {0x80, 0x3E, 0, 0});
  CHECK(decode_file(wav.put(bytes)).seconds == 0.5);
}

TEST_CASE("zero rates, absurd rates and channel counts are invalid") {
  const Wav wav;
  struct Change {
    std::size_t offset;
    std::vector<int> values;
    std::string_view message_part;
  };
  for (const Change& change : std::vector<Change>{{kRate, {0, 0, 0, 0}, "sample rate is 0 Hz"},
                                                  {kRate, {0x9F, 0x0F, 0, 0}, "3999 Hz"},
                                                  {kRate, {1, 0xDC, 5, 0}, "384001 Hz"},
                                                  {kRate, {0xFF, 0xFF, 0xFF, 0xFF}, "4294967295 Hz"},
                                                  {kRate, {0, 0, 0, 0x80}, "sample rate"},
                                                  {kChannels, {0, 0}, "0 channels"},
                                                  {kChannels, {33, 0}, "33 channels"},
                                                  {kChannels, {0xFF, 0xFF}, "65535 channels"},
                                                  {kBits, {0, 0, 0, 0}, ""},
                                                  {kBits, {65, 0}, "65 bits"},
                                                  {kBits, {0xFF, 0xFF}, "65535 bits"}}) {
    Bytes bytes = wav.bytes();
    if (change.offset == kBits) patch(bytes, kBlockAlign, {0, 0});
    patch(bytes, change.offset, change.values);
    std::string message;
    CAPTURE(change.message_part);
    CHECK(wav.refused(bytes, &message) == ErrorCode::kInvalidAudio);
    CHECK(message.find(change.message_part) != std::string::npos);
  }
}

TEST_CASE("a wrong block size does not hide plain samples") {
  const Wav wav;
  for (const auto& size : std::vector<std::vector<int>>{{0, 0}, {1, 0}, {0xFF, 0xFF}}) {
    Bytes bytes = wav.bytes();
    patch(bytes, kBlockAlign, size);
    CHECK(decode_file(wav.put(bytes)).seconds == 1.0);
  }
}

TEST_CASE("missing chunks and missing samples are distinguished") {
  const Wav wav;
  std::string message;
  Bytes bytes = wav.bytes();
  patch(bytes, 12, {'x', 'm', 't', ' '});
  CHECK(wav.refused(bytes, &message) == ErrorCode::kInvalidAudio);
  CHECK(message.find("'fmt ' chunk") != std::string::npos);
  bytes = wav.bytes();
  patch(bytes, 36, {'x', 'a', 't', 'a'});
  CHECK(wav.refused(bytes, &message) == ErrorCode::kInvalidAudio);
  CHECK(message.find("'data' chunk") != std::string::npos);
  bytes = wav.bytes();
  bytes.resize(kSamples);
  CHECK(wav.refused(bytes, &message) == ErrorCode::kInvalidAudio);
  CHECK(message.find("no samples") != std::string::npos);
  patch(bytes, 16, {8, 0, 0, 0});
  CHECK(wav.refused(bytes, &message) == ErrorCode::kInvalidAudio);
}

TEST_CASE("chunks in front of and between the needed ones are skipped, odd sizes padded") {
  const Wav wav;
  const Bytes bytes = wav.bytes();
  const auto junk = joined(text_bytes(std::string_view("LIST\x05\0\0\0", 8)), {'I', 'N', 'F', 'O', 'x', 0});
  const Bytes head(bytes.begin(), bytes.begin() + 12);
  const Bytes rest(bytes.begin() + 12, bytes.end());
  CHECK(decode_file(wav.put(joined(joined(head, junk), joined(rest, junk)))).seconds == 1.0);
}

TEST_CASE("a chunk that claims gigabytes ends the search") {
  const Wav wav;
  Bytes bytes = wav.bytes();
  patch(bytes, 16, {0xF0, 0xFF, 0xFF, 0xFF});
  CHECK(wav.refused(bytes) == ErrorCode::kInvalidAudio);
}

TEST_CASE("wrong RF64 sizes are corrected by the file's size") {
  const TemporaryDirectory directory;
  const auto samples = tone(1.0, 16000, 440);
  const auto original =
      read_file(write_audio(directory / "a.wav", SF_FORMAT_RF64 | SF_FORMAT_PCM_16, 16000, 1, samples));
  const std::size_t ds64 = find(original, "ds64") + 8;
  for (const int value : {0xFF, 0x7F, 0x00}) {
    Bytes bytes = original;
    patch(bytes, ds64, {value, value, value, value, value, value, value, value});
    patch(bytes, ds64 + 8, {value, value, value, value, value, value, value, value});
    CAPTURE(value);
    CHECK(decode_file(directory.put("b.wav", bytes)).seconds == doctest::Approx(1.0).epsilon(0.001));
  }
}

TEST_CASE("24 bits in 4 bytes are read as they are stored") {
  const Wav wav;
  const TemporaryDirectory directory;
  Bytes bytes =
      read_file(write_audio(directory / "a.wav", SF_FORMAT_WAV | SF_FORMAT_PCM_32, 16000, 1, tone(1.0, 16000, 440)));
  patch(bytes, kBits, {24, 0});
  const DecodedAudio decoded = decode_file(wav.put(bytes));
  CHECK(decoded.info.codec == "pcm_s32");
  CHECK(level_at(decoded.samples, 440) == doctest::Approx(0.354).epsilon(0.01));
}

TEST_CASE("codecs that are not decoded are unsupported by name, broken blocks invalid") {
  const Wav wav;
  std::string message;
  Bytes bytes = wav.bytes();
  patch(bytes, 20, {0x61, 0x01});
  CHECK(wav.refused(bytes, &message) == ErrorCode::kUnsupportedAudioFormat);
  CHECK(message.find("codec 353") != std::string::npos);
  for (const int codec : {0x02, 0x11, 0x31}) {
    bytes = wav.bytes();
    patch(bytes, 20, {codec, 0});
    for (const auto& size : std::vector<std::vector<int>>{{0, 0}, {1, 0}, {4, 0}}) {
      patch(bytes, kBlockAlign, size);
      CHECK(wav.refused(bytes) == ErrorCode::kInvalidAudio);
    }
    patch(bytes, kBlockAlign, {0xFF, 0xFF});
    CHECK(wav.refused(bytes) == ErrorCode::kInvalidAudio);
  }
}

TEST_CASE("block codecs: the 'fact' chunk gives the exact duration, unless it is wrong") {
  const TemporaryDirectory directory;
  for (const int codec : {SF_FORMAT_IMA_ADPCM, SF_FORMAT_MS_ADPCM, SF_FORMAT_GSM610}) {
    CAPTURE(codec);
    Bytes bytes = read_file(write_audio(directory / "a.wav", SF_FORMAT_WAV | codec, 8000, 1, tone(1.0125, 8000, 440)));
    const std::size_t fact = find(bytes, "fact") + 8;
    patch(bytes, fact, {8100 & 0xFF, 8100 >> 8, 0, 0});
    CHECK(decode_file(directory.put("b.wav", bytes)).seconds == 1.0125);
    for (const int lie : {0, 1, 0xFF}) {
      patch(bytes, fact, {lie, lie, lie, lie});
      CHECK(decode_file(directory.put("b.wav", bytes)).seconds == doctest::Approx(1.0125).epsilon(0.2));
    }
  }
}

TEST_CASE("MP3 in WAV is decoded") {
  const Wav wav;
  const TemporaryDirectory directory;
  const auto mp3 = read_file(
      write_audio(directory / "a.mp3", SF_FORMAT_MPEG | SF_FORMAT_MPEG_LAYER_III, 16000, 1, tone(1.0, 16000, 440)));
  Bytes bytes = wav.bytes();
  bytes.resize(kSamples);
  patch(bytes, 20, {0x55, 0});
  patch(bytes, kDataSize, {0xFF, 0xFF, 0xFF, 0xFF});
  const DecodedAudio decoded = decode_file(wav.put(joined(bytes, mp3)));
  CHECK(decoded.info.container == "wav");
  CHECK(decoded.info.codec == "mp3");
  CHECK(level_at(decoded.samples, 440) == doctest::Approx(0.354).epsilon(0.03));
}
