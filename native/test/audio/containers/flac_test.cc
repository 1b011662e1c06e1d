#include <doctest/doctest.h>

#include <random>

#include "audio/decoded_audio.h"
#include "support/seed.h"

using namespace verbatim;
using namespace verbatim::test;

namespace {

Bytes flac(const TemporaryDirectory& directory, double seconds) {
  auto samples = tone(seconds, 44100, 440);
  std::mt19937 random(2);
  // Noise makes frames of the usual size.
  for (float& sample : samples) sample += 0.01f * static_cast<float>(random() % 1000) / 1000.0f;
  return read_file(write_audio(directory / "source.flac", SF_FORMAT_FLAC | SF_FORMAT_PCM_16, 44100, 1, samples));
}

}  // namespace

TEST_CASE("a wrong number of samples is ignored") {
  const TemporaryDirectory directory;
  for (const auto& count : std::vector<std::vector<int>>{{0xFF, 0xFF, 0xFF, 0xFF}, {0, 0, 0, 1}, {0, 0, 0, 0}}) {
    Bytes bytes = flac(directory, 1.0);
    patch(bytes, 22, count);
    CHECK(decode_file(directory.put("a.flac", bytes)).seconds == 1.0);
  }
}

TEST_CASE("absurd stream information is invalid or harmless") {
  const TemporaryDirectory directory;
  std::string message;
  Bytes bytes = flac(directory, 1.0);
  patch(bytes, 18, {0, 0, 0x02});  // rate 0
  CHECK(refusal(directory.put("a.flac", bytes), &message) == ErrorCode::kInvalidAudio);
  CHECK(message.find("0 Hz") != std::string::npos);
  bytes = flac(directory, 1.0);
  patch(bytes, 8, {0, 0, 0, 0});  // block sizes 0
  CHECK((refusal(directory.put("a.flac", bytes)).value_or(ErrorCode::kInvalidAudio)) == ErrorCode::kInvalidAudio);
  bytes = flac(directory, 1.0);
  patch(bytes, 4, {4});  // not the stream information first
  CHECK(refusal(directory.put("a.flac", bytes)) == ErrorCode::kInvalidAudio);
}

TEST_CASE("metadata with wrong sizes does not hide the frames") {
  const TemporaryDirectory directory;
  for (const int size : {0xFF, 0x00}) {
    Bytes bytes = flac(directory, 1.0);
    patch(bytes, 43, {size, size, size});
    CHECK(decode_file(directory.put("a.flac", bytes)).seconds == doctest::Approx(1.0).epsilon(0.1));
  }
}

TEST_CASE("an ID3 tag in front is skipped") {
  const TemporaryDirectory directory;
  const auto tag = joined({'I', 'D', '3', 4, 0, 0, 0, 0, 1, 0}, Bytes(128, 0xFF));
  CHECK(decode_file(directory.put("a.flac", joined(tag, flac(directory, 1.0)))).seconds == 1.0);
}

TEST_CASE("damage in the middle costs some frames, not the rest") {
  const TemporaryDirectory directory;
  Bytes bytes = flac(directory, 20.0);
  for (const std::size_t part : {5u, 10u, 15u}) patch(bytes, bytes.size() * part / 20, {0x55, 0xAA, 0x55});
  const DecodedAudio decoded = decode_file(directory.put("a.flac", bytes));
  CHECK(decoded.seconds > 18.0);
  CHECK(decoded.seconds <= 20.0);
}

TEST_CASE("junk behind the frames adds nothing") {
  const TemporaryDirectory directory;
  std::mt19937 random(seed());
  Bytes junk(300000);
  for (auto& byte : junk) byte = static_cast<std::uint8_t>(random());
  CHECK(decode_file(directory.put("a.flac", joined(flac(directory, 2.0), junk))).seconds ==
        doctest::Approx(2.0).epsilon(0.001));
}

TEST_CASE("only metadata, or only frames' debris, is invalid") {
  const TemporaryDirectory directory;
  const Bytes bytes = flac(directory, 1.0);
  std::string message;
  CHECK(refusal(directory.put("a.flac", Bytes(bytes.begin(), bytes.begin() + 60)), &message) ==
        ErrorCode::kInvalidAudio);
  CHECK(message.find("no audio frames") != std::string::npos);
  CHECK(refusal(directory.put("a.flac", Bytes(bytes.begin(), bytes.begin() + 20))) == ErrorCode::kInvalidAudio);
}
