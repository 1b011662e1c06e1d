#include "audio/cutting/read_whole.h"

#include <vector>

#include "audio/reader.h"

namespace verbatim {

Window read_whole(const std::filesystem::path& path) {
  AudioReader reader(path);
  Window window;
  std::vector<float> block(kSampleRate);
  while (const std::size_t count = reader.read(block)) {
    window.samples.insert(window.samples.end(), block.begin(), block.begin() + static_cast<std::ptrdiff_t>(count));
  }
  return window;
}

}  // namespace verbatim
