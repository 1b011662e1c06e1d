// Decodes and cuts long audio. Reports the time of each step and how far resident memory grows; fails if it grows with
// the file.
//   audio_bench [--hours H] [FILE...]     without files: generated ones of H hours (3) in every container
#include <sndfile.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "audio/cutting/segmenter.h"
#include "audio/reader.h"
#include "error.h"

namespace {

using namespace verbatim;
using Clock = std::chrono::steady_clock;

// Two windows of 30 s, buffers and a decoder. A file of 3 hours would be 691 MB of samples.
constexpr double kMostGrowthMegabytes = 24;

double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

double resident_megabytes() {
  std::ifstream statm("/proc/self/statm");
  double total = 0;
  double resident = 0;
  statm >> total >> resident;
  return resident * static_cast<double>(::sysconf(_SC_PAGESIZE)) / 1e6;
}

// Bursts of a changing tone, with pauses between them, over low noise.
void write_long(const std::filesystem::path& path, int format, int rate, double hours) {
  SF_INFO info{};
  info.format = format;
  info.samplerate = rate;
  info.channels = 1;
  SNDFILE* file = sf_open(path.c_str(), SFM_WRITE, &info);
  if (file == nullptr) {
    std::fprintf(stderr, "%s: %s\n", path.c_str(), sf_strerror(nullptr));
    std::exit(1);
  }
  std::vector<float> block(static_cast<std::size_t>(rate));
  std::uint32_t random = 1;
  for (int second = 0; second < hours * 3600; ++second) {
    const double hertz = 200 + 37 * (second % 11);
    for (std::size_t i = 0; i < block.size(); ++i) {
      const double t = static_cast<double>(i) / rate;
      random = random * 1664525 + 1013904223;
      const double noise = (static_cast<double>(random >> 8) / (1 << 24) - 0.5) * 0.002;
      const bool pause = second % 4 == 3 && t > 0.5;
      const double burst = pause ? 0 : 0.3 * (0.6 - 0.4 * std::cos(2 * M_PI * 4 * t)) * std::sin(2 * M_PI * hertz * t);
      block[i] = static_cast<float>(burst + noise);
    }
    for (std::size_t at = 0; at < block.size(); at += 4000) {
      sf_writef_float(file, block.data() + at, static_cast<sf_count_t>(std::min<std::size_t>(4000, block.size() - at)));
    }
  }
  sf_close(file);
}

// Returns false if memory grew with the file.
bool run(const std::string& path, const WindowPolicy& policy, const char* name) {
  const double before = resident_megabytes();
  auto start = Clock::now();
  AudioReader reader(path);
  const double opened = since(start);
  start = Clock::now();
  std::optional<double> seconds;
  double longest_step = 0;
  while (!seconds) {
    const auto step = Clock::now();
    seconds = reader.measure(0.1);
    longest_step = std::max(longest_step, since(step));
  }
  const double measured = since(start);
  start = Clock::now();
  Segmenter segmenter(reader, policy);
  int windows = 0;
  double most = 0;
  while (segmenter.next()) {
    if (++windows % 16 == 0) most = std::max(most, resident_megabytes() - before);
  }
  const double cut = since(start);
  most = std::max(most, resident_megabytes() - before);
  const bool flat = most <= kMostGrowthMegabytes;
  std::printf(
      "%-40s %-8s %9.1f s  open %.3f s  measure %.2f s (step %.3f s)  decode and cut %.2f s = %.0fx  %d "
      "windows  +%.1f MB%s\n",
      std::filesystem::path(path).filename().c_str(), name, *seconds, opened, measured, longest_step, cut,
      *seconds / cut, windows, most, flat ? "" : "  TOO MUCH");
  return flat;
}

bool run_all(const std::vector<std::string>& files) {
  const WindowPolicy full;
  const WindowPolicy pauses{.max_seconds = 8, .cut = WindowPolicy::Cut::kPause, .search_seconds = 3};
  bool flat = true;
  for (const auto& file : files) {
    flat = run(file, full, "quietest") && flat;
    flat = run(file, pauses, "pause") && flat;
  }
  return flat;
}

}  // namespace

int main(int argc, char** argv) {
  double hours = 3;
  std::vector<std::string> files;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--hours" && i + 1 < argc) {
      hours = std::atof(argv[++i]);
    } else {
      files.push_back(argument);
    }
  }
  try {
    if (!files.empty()) return run_all(files) ? 0 : 1;
    std::string name = (std::filesystem::temp_directory_path() / "verbatim-bench-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) return 1;
    const std::filesystem::path directory = name;
    bool flat = true;
    for (const auto& [file, format, rate] : {std::tuple{"long.wav", SF_FORMAT_WAV | SF_FORMAT_PCM_16, 16000},
                                             std::tuple{"long.flac", SF_FORMAT_FLAC | SF_FORMAT_PCM_16, 44100},
                                             std::tuple{"long.mp3", SF_FORMAT_MPEG | SF_FORMAT_MPEG_LAYER_III, 44100},
                                             std::tuple{"vorbis.ogg", SF_FORMAT_OGG | SF_FORMAT_VORBIS, 44100},
                                             std::tuple{"opus.ogg", SF_FORMAT_OGG | SF_FORMAT_OPUS, 48000}}) {
      write_long(directory / file, format, rate, hours);
      flat = run_all({(directory / file).string()}) && flat;
      std::filesystem::remove(directory / file);
    }
    std::filesystem::remove_all(directory);
    return flat ? 0 : 1;
  } catch (const EngineError& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
