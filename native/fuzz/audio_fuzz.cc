// libFuzzer target: any bytes as an audio file, through the reader and the segmenter.
#include <sys/mman.h>
#include <unistd.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "audio/cutting/segmenter.h"
#include "audio/reader.h"
#include "error.h"

namespace {

using namespace verbatim;

// A few bytes may stand for hours; beyond this length the same work repeats.
constexpr double kLongest = 3;
// Windows shorter than the audio, so that it is cut.
constexpr WindowPolicy kPauses = {.max_seconds = 0.8, .cut = WindowPolicy::Cut::kPause, .search_seconds = 0.3};
constexpr WindowPolicy kQuietest = {.max_seconds = 0.5, .search_seconds = 0.2};

// Bytes as a file that exists as long as this.
class MemoryFile {
 public:
  MemoryFile(const std::uint8_t* data, std::size_t size) : descriptor_(::memfd_create("fuzz", MFD_CLOEXEC)) {
    if (descriptor_ < 0 || ::write(descriptor_, data, size) != static_cast<ssize_t>(size)) std::abort();
  }
  ~MemoryFile() { ::close(descriptor_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

 private:
  int descriptor_;
};

void require(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "broken promise: %s\n", what);
  std::abort();
}

// The duration, or nothing if it is longer than kLongest.
std::optional<double> measure(AudioReader& reader) {
  std::optional<double> seconds;
  while (!seconds && reader.measured_seconds() < kLongest) seconds = reader.measure(0.05);
  return seconds && *seconds < kLongest ? seconds : std::nullopt;
}

void read_all(const std::string& path) {
  AudioReader reader(path);
  const auto seconds = measure(reader);
  std::vector<float> block(10007);
  std::size_t total = 0;
  while (total < kLongest * kSampleRate) {
    const std::size_t count = reader.read(block);
    for (std::size_t i = 0; i < count; ++i) require(std::isfinite(block[i]), "samples are finite");
    total += count;
    if (count < block.size()) break;
  }
  if (!seconds) return;
  // In a chain, each run with another rate may be rounded.
  const double off = std::abs(static_cast<double>(total) - *seconds * kSampleRate);
  require(off <= 1 + 0.001 * static_cast<double>(total), "measure() and read() agree");
}

void cut_all(const std::string& path, const WindowPolicy& policy) {
  AudioReader reader(path);
  Segmenter segmenter(reader, policy);
  std::int64_t end = 0;
  while (segmenter.position() < kLongest * kSampleRate) {
    const auto window = segmenter.next();
    if (!window) break;
    require(window->start_sample >= end, "windows are in order and apart");
    require(!window->samples.empty(), "windows hold samples");
    require(window->samples.size() <= policy.max_seconds * kSampleRate + 1, "windows are no longer than allowed");
    end = std::llround(window->end_seconds() * kSampleRate);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const MemoryFile file(data, size);
  try {
    read_all(file.path());
    cut_all(file.path(), kPauses);
    cut_all(file.path(), kQuietest);
  } catch (const EngineError& error) {
    const bool expected =
        error.code() == ErrorCode::kInvalidAudio || error.code() == ErrorCode::kUnsupportedAudioFormat;
    require(expected, error.what());
  }
  return 0;
}
