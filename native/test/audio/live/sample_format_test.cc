#include "audio/live/sample_format.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

#include "audio/decoded_audio.h"
#include "error.h"
#include "support/seed.h"

using namespace verbatim;
using namespace verbatim::test;

namespace {

std::vector<float> decode(const SampleFormat& format, std::span<const std::byte> bytes) {
  std::vector<float> out;
  FrameDecoder(format).decode(bytes, out);
  return out;
}

template <typename T>
std::span<const std::byte> bytes_of(const std::vector<T>& values) {
  return std::as_bytes(std::span(values));
}

std::vector<std::uint8_t> every_code() {
  std::vector<std::uint8_t> codes(256);
  std::iota(codes.begin(), codes.end(), std::uint8_t{0});
  return codes;
}

}  // namespace

TEST_CASE("integers and floats become floats, and the channels are mixed") {
  const std::vector<std::int16_t> integers = {-32768, 16384, 0, 8192};
  CHECK(decode({}, bytes_of(integers)) == std::vector<float>{-1, 0.5f, 0, 0.25f});
  CHECK(decode({.channels = 2}, bytes_of(integers)) == std::vector<float>{-0.25f, 0.125f});
  const std::vector<float> floats = {0.25f, -1.25f, 0.5f};
  CHECK(decode({.encoding = SampleEncoding::kFloat32}, bytes_of(floats)) == floats);
  CHECK(decode({.encoding = SampleEncoding::kFloat32, .channels = 3}, bytes_of(floats))[0] ==
        doctest::Approx(-0.5 / 3));
}

TEST_CASE("floats that are no samples do no harm") {
  using Limits = std::numeric_limits<float>;
  const std::vector<float> floats = {Limits::quiet_NaN(), Limits::infinity(), -Limits::infinity(), Limits::max(),
                                     Limits::lowest()};
  CHECK(decode({.encoding = SampleEncoding::kFloat32}, bytes_of(floats)) == std::vector<float>{0, 0, 0, 8, -8});
}

TEST_CASE("every code of G.711 is decoded as in a file") {
  for (const auto& [encoding, subtype] :
       {std::pair{SampleEncoding::kMuLaw, SF_FORMAT_ULAW}, std::pair{SampleEncoding::kALaw, SF_FORMAT_ALAW}}) {
    const std::vector<std::uint8_t> codes = every_code();
    const std::vector<float> decoded = decode({.encoding = encoding, .sample_rate = 8000}, bytes_of(codes));
    // libsndfile encodes what was decoded and decodes it again: every code has its own level, but for the two zeros.
    const TemporaryDirectory directory;
    const auto path = write_audio(directory / "g711.wav", SF_FORMAT_WAV | subtype, 16000, 1, decoded);
    CHECK(decode_file(path).samples == decoded);
    CHECK(*std::max_element(decoded.begin(), decoded.end()) > 0.97f);
    CHECK(std::accumulate(decoded.begin(), decoded.end(), 0.0) == 0);
  }
  CHECK(decode({.encoding = SampleEncoding::kMuLaw}, bytes_of(std::vector<std::uint8_t>{0xff, 0x00, 0x80})) ==
        std::vector<float>{0, -32124 / 32768.0f, 32124 / 32768.0f});
  CHECK(decode({.encoding = SampleEncoding::kALaw}, bytes_of(std::vector<std::uint8_t>{0xd5, 0x2a, 0xaa})) ==
        std::vector<float>{8 / 32768.0f, -32256 / 32768.0f, 32256 / 32768.0f});
}

TEST_CASE("bytes in pieces of any size give the same samples, and an incomplete frame none") {
  std::mt19937 random(seed());
  const auto any = [&](std::size_t most) { return std::uniform_int_distribution<std::size_t>(0, most)(random); };
  for (int round = 0; round < 200; ++round) {
    const SampleFormat format{.encoding = static_cast<SampleEncoding>(any(3)),
                              .channels = static_cast<int>(1 + any(31))};
    std::vector<std::byte> bytes(any(3000));
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(any(255));
    const std::vector<float> whole = decode(format, bytes);
    CHECK(whole.size() == bytes.size() / bytes_per_frame(format));
    FrameDecoder decoder(format);
    std::vector<float> pieces;
    for (std::span<const std::byte> left = bytes; !left.empty();) {
      const std::size_t count = std::min(left.size(), any(40));
      decoder.decode(left.first(count), pieces);
      left = left.subspan(count);
    }
    CHECK(pieces == whole);
  }
}

TEST_CASE("formats out of range are refused by name") {
  const auto refused = [](const SampleFormat& format, const char* name) {
    try {
      check_sample_format(format);
    } catch (const EngineError& error) {
      return error.code() == ErrorCode::kInvalidArgument && std::string(error.what()).starts_with(name);
    }
    return false;
  };
  for (const int rate : {0, 7999, 48001, -16000}) CHECK(refused({.sample_rate = rate}, "sample_rate"));
  for (const int channels : {0, 33, -1}) CHECK(refused({.channels = channels}, "channels"));
  check_sample_format({.sample_rate = 11025, .channels = 32});
}
