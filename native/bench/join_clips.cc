// Joins audio files to one WAV file (16 kHz, mono, 16 bits) of an exact length. This makes benchmark clips of any
// length from different sentences; a decoder that gets the same words again behaves unlike on real files. If the files
// are too short in total, they are repeated from the first on.
//
//   join_clips OUTPUT.wav SECONDS FILE...
#include <sndfile.h>

#include <algorithm>
#include <exception>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "audio/reader.h"
#include "audio/sample_rate.h"

namespace {

constexpr int kSampleRate = 16000;
constexpr std::size_t kBlock = 16384;

struct Closer {
  void operator()(SNDFILE* file) const noexcept { sf_close(file); }
};
using OutputFile = std::unique_ptr<SNDFILE, Closer>;

OutputFile open_output(const std::string& path) {
  SF_INFO info{};
  info.samplerate = kSampleRate;
  info.channels = 1;
  info.format = SF_FORMAT_WAV | SF_FORMAT_PCM_16;
  OutputFile file(sf_open(path.c_str(), SFM_WRITE, &info));
  if (!file) throw std::runtime_error(path + ": " + sf_strerror(nullptr));
  sf_command(file.get(), SFC_SET_CLIPPING, nullptr, SF_TRUE);
  return file;
}

// Writes at most `wanted` samples of the file and returns their number.
std::size_t append(SNDFILE* output, const std::string& path, std::size_t wanted) {
  verbatim::AudioReader reader(path);
  std::vector<float> block(kBlock);
  std::size_t written = 0;
  while (written < wanted) {
    const std::size_t count = reader.read(std::span(block).first(std::min(kBlock, wanted - written)));
    if (count == 0) break;
    const auto frames = static_cast<sf_count_t>(count);
    if (sf_write_float(output, block.data(), frames) != frames) throw std::runtime_error(sf_strerror(output));
    written += count;
  }
  return written;
}

void join(const std::string& path, std::size_t samples, const std::vector<std::string>& files) {
  const OutputFile output = open_output(path);
  for (std::size_t left = samples; left > 0;) {
    const std::size_t before = left;
    for (const std::string& file : files) left -= append(output.get(), file, left);
    if (left == before) throw std::runtime_error("the files hold no samples");
  }
}

}  // namespace

int main(int count, char** values) {
  try {
    const std::vector<std::string> words(values + 1, values + count);
    if (words.size() < 3) throw std::invalid_argument("usage: join_clips OUTPUT.wav SECONDS FILE...");
    const double seconds = std::stod(words[1]);
    if (!(seconds > 0 && seconds <= 3600)) throw std::invalid_argument("SECONDS is above 0, at most 3600");
    const auto samples = static_cast<std::size_t>(seconds * kSampleRate);
    join(words[0], samples, {words.begin() + 2, words.end()});
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}
