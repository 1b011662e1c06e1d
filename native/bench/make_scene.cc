// Joins audio files to one WAV file (16 kHz, mono, 16 bits) for judging detectors.
//
//   make_scene OUTPUT.wav SEED NOISE_DB|none RTTM|none FILE...
//
// RTTM: a file for the reference. Each input is cut to its sound and placed between silences of 0.3 to 3 s; the file
// lists the sounds, which are separated by pauses of 0.3 s or more. With "none" the inputs follow one another
// unchanged. NOISE_DB: adds pink noise this far below the mean level of the speech.
#include <sndfile.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "audio/cutting/read_whole.h"
#include "options.h"
#include "program.h"
#include "testing/audio_files.h"

namespace {

using Samples = std::vector<float>;
using verbatim::kSampleRate;

constexpr std::size_t kFrame = 160;
// Frames this far below the loudest frame are not speech, decibels.
constexpr double kSpeechDepth = 35;
// Shorter pauses are part of the speech, samples.
constexpr std::size_t kPause = 4800;

double power(std::span<const float> samples) {
  double sum = 0;
  for (const float sample : samples) sum += static_cast<double>(sample) * sample;
  return sum / static_cast<double>(std::max<std::size_t>(1, samples.size()));
}

std::vector<double> frame_powers(const Samples& samples) {
  std::vector<double> powers;
  for (std::size_t at = 0; at < samples.size(); at += kFrame) {
    powers.push_back(power(std::span(samples).subspan(at, std::min(kFrame, samples.size() - at))));
  }
  return powers;
}

double threshold(const std::vector<double>& powers, double depth) {
  return *std::max_element(powers.begin(), powers.end()) * std::pow(10, -depth / 10);
}

// In samples.
struct Stretch {
  std::size_t begin = 0;
  std::size_t end = 0;
};

// The sounds of a clip, between pauses.
std::vector<Stretch> sounds(const Samples& samples) {
  const auto powers = frame_powers(samples);
  std::vector<Stretch> found;
  if (powers.empty()) return found;
  const double least = threshold(powers, kSpeechDepth);
  for (std::size_t frame = 0; frame < powers.size(); ++frame) {
    if (powers[frame] < least) continue;
    const std::size_t begin = frame * kFrame;
    const std::size_t end = std::min(begin + kFrame, samples.size());
    if (found.empty() || begin - found.back().end > kPause) found.push_back({begin, end});
    found.back().end = end;
  }
  return found;
}

// Mean power of the frames that are speech.
double speech_power(const Samples& samples) {
  const auto powers = frame_powers(samples);
  const double least = threshold(powers, kSpeechDepth);
  double sum = 0;
  int count = 0;
  for (const double value : powers) {
    if (value < least) continue;
    sum += value;
    ++count;
  }
  return sum / std::max(1, count);
}

// White noise through P. Kellet's filter with three poles.
class PinkNoise {
 public:
  explicit PinkNoise(std::uint32_t seed) : engine_(seed) {}
  double next() {
    const double white = static_cast<double>(engine_()) / 4294967296.0 * 2 - 1;
    state_[0] = 0.99765 * state_[0] + white * 0.0990460;
    state_[1] = 0.96300 * state_[1] + white * 0.2965164;
    state_[2] = 0.57000 * state_[2] + white * 1.0526913;
    return state_[0] + state_[1] + state_[2] + white * 0.1848;
  }

 private:
  std::mt19937 engine_;
  std::array<double, 3> state_{};
};

void add_noise(Samples& samples, double decibels_below, std::uint32_t seed) {
  PinkNoise source(seed);
  Samples noise(samples.size());
  for (float& sample : noise) sample = static_cast<float>(source.next());
  const double gain = std::sqrt(speech_power(samples) * std::pow(10, -decibels_below / 10) / power(noise));
  for (std::size_t i = 0; i < samples.size(); ++i) samples[i] += static_cast<float>(gain) * noise[i];
}

void append_silence(Samples& scene, std::mt19937& random) {
  const double seconds = 0.3 + 2.7 * static_cast<double>(random()) / 4294967296.0;
  scene.resize(scene.size() + static_cast<std::size_t>(seconds * kSampleRate));
}

Samples spaced(const std::vector<std::string>& files, const std::string& rttm, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::ofstream list(rttm);
  const std::string name = std::filesystem::path(rttm).stem().string();
  const auto seconds = [](std::size_t samples) { return static_cast<double>(samples) / kSampleRate; };
  Samples scene;
  for (const std::string& file : files) {
    append_silence(scene, random);
    const Samples clip = verbatim::read_whole(file).samples;
    const auto stretches = sounds(clip);
    if (stretches.empty()) continue;
    const std::size_t first = stretches.front().begin;
    for (const auto& [begin, end] : stretches) {
      list << "SPEAKER " << name << " 1 " << seconds(scene.size() + begin - first) << ' ' << seconds(end - begin)
           << " <NA> <NA> one <NA> <NA>\n";
    }
    scene.insert(scene.end(), clip.begin() + static_cast<std::ptrdiff_t>(first),
                 clip.begin() + static_cast<std::ptrdiff_t>(stretches.back().end));
  }
  append_silence(scene, random);
  if (!list.flush()) throw std::runtime_error("cannot write " + rttm);
  return scene;
}

Samples joined(const std::vector<std::string>& files) {
  Samples scene;
  for (const std::string& file : files) {
    const Samples clip = verbatim::read_whole(file).samples;
    scene.insert(scene.end(), clip.begin(), clip.end());
  }
  return scene;
}

void run(const std::vector<std::string>& words) {
  if (words.size() < 5)
    throw std::invalid_argument("usage: make_scene OUTPUT.wav SEED NOISE_DB|none RTTM|none FILE...");
  const auto seed = static_cast<std::uint32_t>(verbatim::bench::integer(words[1], 0));
  const std::vector<std::string> files(words.begin() + 4, words.end());
  Samples scene = words[3] == "none" ? joined(files) : spaced(files, words[3], seed);
  if (scene.empty()) throw std::runtime_error("the files hold no samples");
  if (words[2] != "none") add_noise(scene, std::stod(words[2]), seed);
  // Speech with noise may exceed full scale.
  for (float& sample : scene) sample = std::clamp(sample, -1.0f, 1.0f);
  verbatim::test::write_audio(words[0], SF_FORMAT_WAV | SF_FORMAT_PCM_16, kSampleRate, 1, scene);
}

}  // namespace

int main(int count, char** values) { return verbatim::bench::run_program(count, values, run); }
