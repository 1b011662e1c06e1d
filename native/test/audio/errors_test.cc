#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <random>

#include "audio/decoded_audio.h"
#include "support/seed.h"

using namespace verbatim;
using namespace verbatim::test;

TEST_CASE("anything but a regular file is an I/O error, at once") {
  const TemporaryDirectory directory;
  CHECK(refusal(directory / "missing.wav") == ErrorCode::kIoError);
  CHECK(refusal(directory / "") == ErrorCode::kIoError);
  REQUIRE(::mkfifo((directory / "fifo").c_str(), 0600) == 0);
  CHECK(refusal(directory / "fifo") == ErrorCode::kIoError);
  CHECK(refusal("/dev/zero") == ErrorCode::kIoError);
}

TEST_CASE("other formats are unsupported, whatever the file's name, and the message names what is allowed") {
  const TemporaryDirectory directory;
  const auto samples = tone(0.5, 44100, 440);
  for (const int format :
       {SF_FORMAT_AIFF | SF_FORMAT_PCM_16, SF_FORMAT_AU | SF_FORMAT_PCM_16, SF_FORMAT_CAF | SF_FORMAT_PCM_16,
        SF_FORMAT_W64 | SF_FORMAT_PCM_16, SF_FORMAT_VOC | SF_FORMAT_PCM_16, SF_FORMAT_NIST | SF_FORMAT_PCM_16,
        SF_FORMAT_IRCAM | SF_FORMAT_PCM_16, SF_FORMAT_RAW | SF_FORMAT_PCM_16, SF_FORMAT_MAT5 | SF_FORMAT_PCM_16,
        SF_FORMAT_PAF | SF_FORMAT_PCM_16}) {
    CAPTURE(format);
    std::string message;
    CHECK(refusal(write_audio(directory / "other.wav", format, 44100, 1, samples), &message) ==
          ErrorCode::kUnsupportedAudioFormat);
    CHECK(message.find("WAV, FLAC, MP3 or OGG") != std::string::npos);
  }
}

TEST_CASE("text, random bytes and pieces of other formats are unsupported") {
  const TemporaryDirectory directory;
  const auto refused = [&](const Bytes& bytes) { return refusal(directory.put("x.mp3", bytes)); };
  Bytes text;
  while (text.size() < 50000) text = joined(text, text_bytes("The quick brown fox. "));
  CHECK(refused(text) == ErrorCode::kUnsupportedAudioFormat);
  CHECK(refused({'x'}) == ErrorCode::kUnsupportedAudioFormat);
  CHECK(refused(Bytes(100000, 0)) == ErrorCode::kUnsupportedAudioFormat);
  CHECK(refused(Bytes(100000, 0xFF)) == ErrorCode::kUnsupportedAudioFormat);
  CHECK(refused(joined({0xFF, 0xFE}, Bytes(5000, 'a'))) == ErrorCode::kUnsupportedAudioFormat);
  CHECK(refused(joined(text_bytes("RIFF\x10\x10\0\0AVI LIST"), Bytes(5000, 1))) == ErrorCode::kUnsupportedAudioFormat);
  std::mt19937 random(seed());
  for (int i = 0; i < 20; ++i) {
    Bytes noise(1 << 20);
    for (auto& byte : noise) byte = static_cast<std::uint8_t>(random());
    CHECK(refused(noise) == ErrorCode::kUnsupportedAudioFormat);
  }
  // MP3 frames inside another container do not make an MP3 file.
  const auto mp3 = read_file(
      write_audio(directory / "a.mp3", SF_FORMAT_MPEG | SF_FORMAT_MPEG_LAYER_III, 44100, 1, tone(1, 44100, 440)));
  CHECK(refused(joined({0, 0, 0, 32, 'f', 't', 'y', 'p', 'i', 's', 'o', 'm', 0, 0, 0, 0}, mp3)) ==
        ErrorCode::kUnsupportedAudioFormat);
}

TEST_CASE("OGG without audio that is decoded is unsupported") {
  const TemporaryDirectory directory;
  const auto speex = joined(ogg_page(2, 0, 1, 0, text_bytes("Speex   1.2.0 and so on, a header of eighty bytes")),
                            ogg_page(4, 320, 1, 1, Bytes(60, 7)));
  std::string message;
  CHECK(refusal(directory.put("a.ogg", speex), &message) == ErrorCode::kUnsupportedAudioFormat);
  CHECK(message.find("Vorbis, Opus or FLAC") != std::string::npos);
}

TEST_CASE("an empty file, and one cut within its first bytes, is invalid") {
  const TemporaryDirectory directory;
  std::string message;
  CHECK(refusal(directory.put("empty", {}), &message) == ErrorCode::kInvalidAudio);
  CHECK(message == "the file is empty");
  for (const auto* stump : {"R", "RIFF", "RIFF\x24\x01\x01\x01WAV", "fL", "Og", "RF64"}) {
    CAPTURE(stump);
    CHECK(refusal(directory.put("stump", text_bytes(stump))) == ErrorCode::kInvalidAudio);
  }
}

TEST_CASE("a file cut anywhere yields its remaining audio or a clear refusal") {
  const TemporaryDirectory directory;
  for (const int format :
       {SF_FORMAT_WAV | SF_FORMAT_PCM_16, SF_FORMAT_WAV | SF_FORMAT_MS_ADPCM, SF_FORMAT_FLAC | SF_FORMAT_PCM_16,
        SF_FORMAT_OGG | SF_FORMAT_VORBIS, SF_FORMAT_OGG | SF_FORMAT_OPUS, SF_FORMAT_MPEG | SF_FORMAT_MPEG_LAYER_III}) {
    CAPTURE(format);
    const auto whole = read_file(write_audio(directory / "whole", format, 48000, 1, tone(3.0, 48000, 440)));
    double longest = 0;
    for (int part = 0; part < 40; ++part) {
      const std::size_t size = part < 20 ? whole.size() * static_cast<std::size_t>(part) / 20000
                                         : whole.size() * static_cast<std::size_t>(part - 19) / 21;
      CAPTURE(size);
      const auto path = directory.put("cut", Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)));
      const auto code = refusal(path);
      if (code) {
        CHECK(code == ErrorCode::kInvalidAudio);
        continue;
      }
      const DecodedAudio decoded = decode_file(path);
      CHECK(decoded.seconds <= 3.2 * static_cast<double>(size) / static_cast<double>(whole.size()) + 0.2);
      longest = std::max(longest, decoded.seconds);
      if (part == 38) CHECK(level_at(decoded.samples, 440) == doctest::Approx(0.354).epsilon(0.06));
    }
    CHECK(longest > 2.0);
  }
}
