// Prints where a Silero model alone detects speech: a reference for other detectors.
//
//   voiced_spans MODEL FILE...
//
// One line of JSON per file: [[begin, end], ...], in seconds, in order, apart.
#include <algorithm>
#include <cmath>
#include <iostream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "audio/cutting/read_whole.h"
#include "audio/cutting/voice_hysteresis.h"
#include "program.h"
#include "speech/silero/model.h"

namespace {

using verbatim::kSampleRate;
using verbatim::VoiceActivityModel;

constexpr int kFrame = VoiceActivityModel::kFrameSamples;
// Resolution, samples.
constexpr std::int64_t kStep = 160;
// Lower thresholds than Silero's own (0.5, 0.35, speech of 0.25 s), so that possible speech counts too.
constexpr verbatim::VoiceRules kRules{
    .onset = 0.2f, .offset = 0.1f, .min_silence = 0.1, .min_speech = 0.06, .padding = 0.03};

verbatim::VoiceHysteresis hysteresis_of(const VoiceActivityModel& model, std::vector<float> samples) {
  const auto length = static_cast<std::int64_t>(samples.size());
  const std::size_t frames = (samples.size() + kFrame - 1) / kFrame;
  samples.resize(frames * kFrame);
  for (float& sample : samples) sample = std::clamp(sample, -1.0f, 1.0f);
  std::vector<float> probabilities(frames);
  if (frames > 0) model.open()->probabilities(samples, probabilities);
  verbatim::VoiceHysteresis hysteresis(kRules, kFrame);
  hysteresis.push(probabilities);
  hysteresis.finish(length);
  return hysteresis;
}

nlohmann::json spans(verbatim::VoiceHysteresis hysteresis) {
  nlohmann::json found = nlohmann::json::array();
  bool speaks = false;
  for (std::int64_t at = 0; at < hysteresis.decided(); at += kStep) {
    const double seconds = static_cast<double>(at) / kSampleRate;
    const std::int64_t end = std::min(at + kStep, hysteresis.decided());
    const bool speech = hysteresis.has_speech(at, end);
    if (speech && !speaks) found.push_back({seconds, seconds});
    if (speech) found.back()[1] = static_cast<double>(end) / kSampleRate;
    speaks = speech;
  }
  return found;
}

void run(const std::vector<std::string>& words) {
  if (words.size() < 2) throw std::invalid_argument("usage: voiced_spans MODEL FILE...");
  const auto model = verbatim::SileroModel::load(words[0]);
  for (std::size_t i = 1; i < words.size(); ++i)
    std::cout << spans(hysteresis_of(*model, verbatim::read_whole(words[i]).samples)) << '\n';
}

}  // namespace

int main(int count, char** values) { return verbatim::bench::run_program(count, values, run); }
