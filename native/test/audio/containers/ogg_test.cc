#include <doctest/doctest.h>

#include "audio/containers/ogg_page.h"
#include "audio/decoded_audio.h"

using namespace verbatim;
using namespace verbatim::test;

namespace {

Bytes ogg(const TemporaryDirectory& directory, int codec, double seconds, int rate = 48000, double hertz = 440) {
  return read_file(write_audio(directory / "source.ogg", SF_FORMAT_OGG | codec, rate, 1, tone(seconds, rate, hertz)));
}

std::vector<OggPage> pages_of(const std::filesystem::path& path) {
  const auto file = std::make_shared<const File>(path);
  OggScanner scanner(ByteSource(file, 0, file->size()));
  std::vector<OggPage> pages;
  while (const auto page = scanner.next()) pages.push_back(*page);
  return pages;
}

// The same pages with other positions and valid checksums.
Bytes with_granules(const Bytes& bytes, const std::vector<OggPage>& pages, auto granule_of) {
  Bytes out;
  for (std::size_t i = 0; i < pages.size(); ++i) {
    const auto at = [&](std::int64_t offset) { return bytes.begin() + offset; };
    Bytes page(at(pages[i].offset), at(pages[i].end()));
    const std::int64_t granule = granule_of(i, pages[i].granule);
    for (std::size_t k = 0; k < 8; ++k) page[6 + k] = static_cast<std::uint8_t>(granule >> (8 * k));
    patch(page, 22, {0, 0, 0, 0});
    std::uint32_t crc = 0;
    for (const std::uint8_t byte : page) {
      crc ^= static_cast<std::uint32_t>(byte) << 24;
      for (int bit = 0; bit < 8; ++bit) crc = crc << 1 ^ ((crc >> 31) != 0 ? 0x04C11DB7u : 0);
    }
    for (std::size_t k = 0; k < 4; ++k) page[22 + k] = static_cast<std::uint8_t>(crc >> (8 * k));
    out = joined(out, page);
  }
  return out;
}

}  // namespace

TEST_CASE("pages are found and their checksums verified") {
  const TemporaryDirectory directory;
  const auto page = ogg_page(2, 5, 77, 0, Bytes(600, 9));
  auto wrong = page;
  wrong[100] ^= 1;
  const auto pages = pages_of(directory.put("p", joined(joined(Bytes(99, 'O'), wrong), page)));
  REQUIRE(pages.size() == 1);
  CHECK(pages[0].offset == static_cast<std::int64_t>(99 + page.size()));
  CHECK(pages[0].length == static_cast<std::int64_t>(page.size()));
  CHECK(pages[0].granule == 5);
  CHECK(pages[0].serial == 77);
  CHECK(pages[0].begins_stream);
  CHECK(pages[0].packets == 1);
}

TEST_CASE("bytes arranged to look like overlapping pages do not cost more than their number") {
  const TemporaryDirectory directory;
  // Every 32 bytes a header that claims a page of 65 KB: 65 billion bytes to read if each were trusted.
  Bytes hostile = ogg_page(2, 0, 1, 0, text_bytes("OpusHead"));
  Bytes header = joined(text_bytes("OggS"), Bytes(28, 0xFF));
  header[4] = 0;
  while (hostile.size() < 4 << 20) hostile.insert(hostile.end(), header.begin(), header.end());
  CHECK(refusal(directory.put("h.ogg", hostile)) == ErrorCode::kInvalidAudio);
}

TEST_CASE("chained streams follow one another, each at its own rate") {
  const TemporaryDirectory directory;
  const auto chain = joined(joined(ogg(directory, SF_FORMAT_VORBIS, 2.0, 44100), ogg(directory, SF_FORMAT_OPUS, 1.5)),
                            ogg(directory, SF_FORMAT_VORBIS, 1.0, 16000));
  const DecodedAudio decoded = decode_file(directory.put("chain.ogg", chain));
  CHECK(decoded.info.codec == "vorbis");
  CHECK(decoded.info.sample_rate == 44100);
  CHECK(decoded.seconds == doctest::Approx(4.5).epsilon(1e-6));
  CHECK(level_at(decoded.samples, 440) == doctest::Approx(0.354).epsilon(0.06));
}

TEST_CASE("a link that cannot be decoded does not hide the others") {
  const TemporaryDirectory directory;
  const auto good = ogg(directory, SF_FORMAT_VORBIS, 2.0, 44100);
  const auto bad = joined(ogg_page(2, 0, 5, 0, text_bytes("\001vorbis and then nothing of use, at all")),
                          ogg_page(4, 99, 5, 1, Bytes(50, 1)));
  CHECK(decode_file(directory.put("a.ogg", joined(good, bad))).seconds == 2.0);
  CHECK(decode_file(directory.put("b.ogg", joined(bad, good))).seconds == 2.0);
  CHECK(refusal(directory.put("c.ogg", bad)) == ErrorCode::kInvalidAudio);
}

TEST_CASE("the first audio stream is taken out of several") {
  const TemporaryDirectory directory;
  const auto audio = ogg(directory, SF_FORMAT_VORBIS, 2.0, 44100);
  const auto path = directory.put("a.ogg", audio);
  const auto pages = pages_of(path);
  const Bytes first(audio.begin(), audio.begin() + pages[0].end());
  const Bytes rest(audio.begin() + pages[0].end(), audio.end());
  const auto mixed = joined(joined(ogg_page(2, 0, 9, 0, text_bytes("\x80theora")), first),
                            joined(ogg_page(0, 1, 9, 1, Bytes(500, 3)), rest));
  CHECK(decode_file(directory.put("mixed.ogg", mixed)).seconds == 2.0);
}

TEST_CASE("wrong positions cost neither memory nor time") {
  const TemporaryDirectory directory;
  for (const int codec : {SF_FORMAT_VORBIS, SF_FORMAT_OPUS}) {
    CAPTURE(codec);
    const auto bytes = ogg(directory, codec, 3.0);
    const auto path = directory.put("a.ogg", bytes);
    const auto pages = pages_of(path);
    REQUIRE(pages.size() >= 4);
    const auto last = pages.size() - 1;
    const auto changed = [&](auto granule_of) {
      const auto code = refusal(directory.put("b.ogg", with_granules(bytes, pages, granule_of)));
      CHECK((!code || code == ErrorCode::kInvalidAudio));
      if (!code) CHECK(decode_file(directory / "b.ogg").seconds < 10);
    };
    changed([&](std::size_t i, std::int64_t granule) { return i == last ? std::int64_t{1} << 46 : granule; });
    changed([&](std::size_t i, std::int64_t granule) { return i == last ? INT64_MAX : granule; });
    changed([&](std::size_t i, std::int64_t granule) { return i == last ? 1 : granule; });
    changed([&](std::size_t i, std::int64_t granule) { return i == last ? granule - 3'000'000'000 : granule; });
    changed([&](std::size_t i, std::int64_t granule) { return i == 2 ? std::int64_t{1} << 46 : granule; });
    changed([](std::size_t, std::int64_t) { return std::int64_t{-1}; });
    changed([](std::size_t, std::int64_t) { return std::int64_t{0}; });
  }
}

TEST_CASE("FLAC in OGG is taken out of its pages") {
  const TemporaryDirectory directory;
  const auto flac =
      read_file(write_audio(directory / "a.flac", SF_FORMAT_FLAC | SF_FORMAT_PCM_16, 44100, 1, tone(2.0, 44100, 440)));
  const Bytes stream_info(flac.begin() + 8, flac.begin() + 42);
  // libsndfile writes the stream information and one more block.
  const std::size_t second = 42;
  const std::size_t frames =
      second + 4 + static_cast<std::size_t>(flac[second + 1] << 16 | flac[second + 2] << 8 | flac[second + 3]);
  REQUIRE((flac[second] & 0x80) != 0);
  auto head = joined(text_bytes("\177FLAC"), {1, 0, 0, 1, 'f', 'L', 'a', 'C', 0, 0, 0, 34});
  head = joined(head, stream_info);
  Bytes file =
      joined(ogg_page(2, 0, 3, 0, head),
             ogg_page(0, 0, 3, 1, Bytes(flac.begin() + second, flac.begin() + static_cast<std::ptrdiff_t>(frames))));
  std::uint32_t number = 2;
  for (std::size_t at = frames; at < flac.size(); at += 20000) {
    const auto end = std::min(flac.size(), at + 20000);
    const Bytes piece(flac.begin() + static_cast<std::ptrdiff_t>(at), flac.begin() + static_cast<std::ptrdiff_t>(end));
    file = joined(file, ogg_page(end == flac.size() ? 4 : 0, end == flac.size() ? 88200 : -1, 3, number++, piece));
  }
  const DecodedAudio decoded = decode_file(directory.put("a.oga", file));
  CHECK(decoded.info.container == "ogg");
  CHECK(decoded.info.codec == "flac");
  CHECK(decoded.seconds == 2.0);
  CHECK(level_at(decoded.samples, 440) == doctest::Approx(0.354).epsilon(0.01));
}
