#include <doctest/doctest.h>

#include <random>

#include "audio/containers/mp3_frame.h"
#include "audio/decoded_audio.h"
#include "support/seed.h"

using namespace verbatim;
using namespace verbatim::test;

namespace {

Bytes mp3(const TemporaryDirectory& directory, int rate, double seconds, double hertz = 440) {
  return read_file(write_audio(directory / "source.mp3", SF_FORMAT_MPEG | SF_FORMAT_MPEG_LAYER_III, rate, 1,
                               tone(seconds, rate, hertz)));
}

// The file's audio frames alone, without tags and information frame.
Bytes bare(const Bytes& file) {
  const TemporaryDirectory directory;
  const auto path = directory.put("f.mp3", file);
  const auto source = std::make_shared<const File>(path);
  Mp3Scanner scanner(ByteSource(source, 0, source->size()));
  const auto first = scanner.next();
  REQUIRE(first);
  const auto bytes = scanner.bytes_of(*first);
  std::int64_t at = first->offset;
  if (parse_mp3_info_frame(bytes, first->header)) at += first->header.length;
  return Bytes(file.begin() + at, file.end());
}

Bytes id3v2(std::size_t size) {
  Bytes tag = {'I',
               'D',
               '3',
               4,
               0,
               0,
               static_cast<std::uint8_t>(size >> 21 & 127),
               static_cast<std::uint8_t>(size >> 14 & 127),
               static_cast<std::uint8_t>(size >> 7 & 127),
               static_cast<std::uint8_t>(size & 127)};
  // A picture full of bytes that look like frame headers.
  while (tag.size() < size + 10) tag.push_back(tag.size() % 4 == 2 ? 0xFF : tag.size() % 4 == 3 ? 0xFB : 0x90);
  return tag;
}

}  // namespace

TEST_CASE("encoder delay and padding are cut: the duration is the original's") {
  const TemporaryDirectory directory;
  for (const int rate : {8000, 16000, 22050, 44100, 48000}) {
    CAPTURE(rate);
    CHECK(decode_file(directory.put("a.mp3", mp3(directory, rate, 2.5))).seconds == 2.5);
  }
}

TEST_CASE("a variable bit rate without a Xing header is decoded to its end") {
  const TemporaryDirectory directory;
  const auto frames = bare(mp3(directory, 44100, 10));
  const DecodedAudio decoded = decode_file(directory.put("a.mp3", frames));
  CHECK(decoded.seconds >= 10.0);
  CHECK(decoded.seconds < 10.1);
  CHECK(level_at(decoded.samples, 440) == doctest::Approx(0.354).epsilon(0.02));
}

TEST_CASE("a Xing header with a wrong number of frames affects only the trimming of the ends") {
  const TemporaryDirectory directory;
  const auto original = mp3(directory, 44100, 3);
  const std::string marker =
      std::string(original.begin(), original.end()).find("Xing") != std::string::npos ? "Xing" : "Info";
  for (const int value : {0, 1, 0x7F, 0xFF}) {
    Bytes bytes = original;
    patch(bytes, find(bytes, marker) + 8, {value, value, value, value});
    const double seconds = decode_file(directory.put("a.mp3", bytes)).seconds;
    CHECK(seconds >= 3.0);
    CHECK(seconds < 3.1);
  }
}

TEST_CASE("tags before, behind and between MP3 streams are skipped, however large") {
  const TemporaryDirectory directory;
  const auto audio = mp3(directory, 44100, 2);
  const auto frames = bare(audio);
  const double plain = decode_file(directory.put("a.mp3", frames)).seconds;
  const auto id3v1 = joined(text_bytes("TAG"), Bytes(125, ' '));
  auto ape = joined(text_bytes("APETAGEX"), Bytes(24, 0));
  CHECK(decode_file(directory.put("a.mp3", joined(id3v2(3'000'000), frames))).seconds == plain);
  CHECK(decode_file(directory.put("a.mp3", joined(joined(id3v2(100), id3v2(5000)), frames))).seconds == plain);
  CHECK(decode_file(directory.put("a.mp3", joined(frames, id3v1))).seconds == plain);
  CHECK(decode_file(directory.put("a.mp3", joined(frames, joined(ape, id3v1)))).seconds == plain);
  const auto twice = joined(joined(frames, id3v1), joined(id3v2(400'000), frames));
  CHECK(decode_file(directory.put("a.mp3", twice)).seconds == doctest::Approx(2 * plain).epsilon(1e-9));
  CHECK(decode_file(directory.put("a.mp3", joined(audio, audio))).seconds < 2 * plain);
}

TEST_CASE("a tag with a wrong size does not hide the frames") {
  const TemporaryDirectory directory;
  const auto frames = bare(mp3(directory, 44100, 2));
  const double plain = decode_file(directory.put("a.mp3", frames)).seconds;
  const Bytes lie = {'I', 'D', '3', 3, 0, 0, 0x7F, 0x7F, 0x7F, 0x7F};
  CHECK(decode_file(directory.put("a.mp3", joined(lie, frames))).seconds == plain);
  std::string message;
  CHECK(refusal(directory.put("a.mp3", joined(lie, Bytes(5000, 'x'))), &message) == ErrorCode::kInvalidAudio);
  CHECK(message.find("ID3") != std::string::npos);
}

TEST_CASE("junk in front and in the middle is skipped") {
  const TemporaryDirectory directory;
  const auto frames = bare(mp3(directory, 44100, 2));
  const double plain = decode_file(directory.put("a.mp3", frames)).seconds;
  std::mt19937 random(seed());
  Bytes junk(20000);
  for (auto& byte : junk) byte = static_cast<std::uint8_t>(random());
  CHECK(decode_file(directory.put("a.mp3", joined(junk, frames))).seconds == plain);
  const DecodedAudio decoded = decode_file(directory.put("a.mp3", joined(joined(frames, junk), frames)));
  CHECK(decoded.seconds == doctest::Approx(2 * plain).epsilon(0.02));
  CHECK(level(decoded.samples) == doctest::Approx(0.354).epsilon(0.05));
}

TEST_CASE("a change of the sample rate in the middle is followed") {
  const TemporaryDirectory directory;
  const auto first = bare(mp3(directory, 44100, 2));
  const auto second = bare(mp3(directory, 22050, 3));
  const double parts =
      decode_file(directory.put("a.mp3", first)).seconds + decode_file(directory.put("b.mp3", second)).seconds;
  const DecodedAudio decoded = decode_file(directory.put("c.mp3", joined(first, second)));
  CHECK(decoded.seconds == doctest::Approx(parts).epsilon(1e-6));
  CHECK(level(decoded.samples) == doctest::Approx(0.354).epsilon(0.05));
}

TEST_CASE("damaged frames become silence, and later times stay right") {
  const TemporaryDirectory directory;
  auto bytes = bare(mp3(directory, 44100, 5));
  const double plain = decode_file(directory.put("a.mp3", bytes)).seconds;
  std::mt19937 random(seed());
  for (int i = 0; i < 200; ++i) bytes[2000 + random() % (bytes.size() - 2000)] = static_cast<std::uint8_t>(random());
  const double damaged = decode_file(directory.put("a.mp3", bytes)).seconds;
  CHECK(damaged <= plain + 0.1);
  CHECK(damaged > 0.5 * plain);
}

TEST_CASE("less than a frame is invalid; layers I and II are no MP3") {
  const TemporaryDirectory directory;
  const auto frames = bare(mp3(directory, 44100, 1));
  CHECK(refusal(directory.put("a.mp3", Bytes(frames.begin(), frames.begin() + 100))) == ErrorCode::kInvalidAudio);
  Bytes layer2(50000, 0);
  for (std::size_t at = 0; at + 417 < layer2.size(); at += 417) patch(layer2, at, {0xFF, 0xFD, 0x80, 0x00});
  CHECK(refusal(directory.put("a.mp3", layer2)) == ErrorCode::kUnsupportedAudioFormat);
}

TEST_CASE("headers are parsed as the standard has them") {
  const auto parse = [](std::vector<int> values) {
    Bytes bytes(4);
    patch(bytes, 0, values);
    return parse_mp3_header(bytes);
  };
  const auto header = parse({0xFF, 0xFB, 0x90, 0x64});
  REQUIRE(header);
  CHECK(header->sample_rate == 44100);
  CHECK(header->channels == 2);
  CHECK(header->samples == 1152);
  CHECK(header->length == 417);
  CHECK(parse({0xFF, 0xFB, 0x92, 0x64})->length == 418);
  CHECK(parse({0xFF, 0xF3, 0x84, 0xC4})->sample_rate == 24000);
  CHECK(parse({0xFF, 0xF3, 0x84, 0xC4})->channels == 1);
  CHECK(parse({0xFF, 0xE3, 0x18, 0xC4})->sample_rate == 8000);
  CHECK_FALSE(parse({0xFF, 0xFB, 0x00, 0x64}));  // free format
  CHECK_FALSE(parse({0xFF, 0xFB, 0xF0, 0x64}));  // bit rate 15
  CHECK_FALSE(parse({0xFF, 0xFB, 0x9C, 0x64}));  // rate 3
  CHECK_FALSE(parse({0xFF, 0xEB, 0x90, 0x64}));  // version 1
  CHECK_FALSE(parse({0xFF, 0xFD, 0x90, 0x64}));  // layer II
  CHECK_FALSE(parse({0xFF, 0xFB, 0x90, 0x66}));  // emphasis 2
}
