// Counts the bytes that the allocator has in use, which AddressSanitizer's allocator does not report.
#if !defined(__SANITIZE_ADDRESS__)
#include <doctest/doctest.h>
#include <malloc.h>

#include <cstddef>
#include <optional>
#include <vector>

#include "audio/reader.h"
#include "speech/random_models/noise.h"
#include "testing/audio_files.h"
#include "testing/temporary_directory.h"

using namespace verbatim;
using namespace verbatim::test;

namespace {

std::size_t allocated() {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

}  // namespace

TEST_CASE("a reader has one decoder at most, and none between measuring and reading") {
  const TemporaryDirectory directory;
  constexpr int kChannels = 8;
  // Longer than the read-ahead, also when compressed.
  const std::vector<float> interleaved = random_models::noise(std::size_t{48'000} * kChannels, 1);
  const auto path =
      write_audio(directory / "wide.flac", SF_FORMAT_FLAC | SF_FORMAT_PCM_16, 48'000, kChannels, interleaved);
  AudioReader(path).measure(1);  // one-time allocations of the libraries
  const std::size_t before = allocated();

  AudioReader reader(path);
  const std::size_t decoder = allocated() - before;
  CHECK(decoder > 256 * 1024);
  CHECK(!reader.measure(0));
  CHECK(allocated() - before < decoder + decoder / 2);
  while (!reader.measure(0)) {
  }
  CHECK(allocated() - before < decoder / 8);
  CHECK(reader.measured_seconds() == doctest::Approx(1));
  CHECK(reader.measured_samples() == doctest::Approx(48'000.0 * kChannels));

  std::vector<float> samples(100);
  CHECK(reader.read(samples) == samples.size());
  CHECK(allocated() - before > decoder / 2);
}
#endif
