// Compares whisper.cpp's and this engine's computation of Whisper's features, for a window of noise on one thread. They
// take turns. Reports medians of wall-clock time in milliseconds, and the median of the ratios of neighbouring runs.
//
//   mel_bench [--seconds 30] [--rounds 15] MODEL
#include <whisper.h>

#include <cstdio>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "measure.h"
#include "options.h"
#include "program.h"
#include "speech/model_file.h"
#include "speech/random_models/noise.h"
#include "speech/whisper/encoder/mel.h"
#include "speech/whisper_cpp/model.h"
#include "speech/whisper_cpp/whisper_state.h"

namespace {

using namespace verbatim;
using namespace verbatim::bench;

whisper::MelExtractor extractor_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const ModelFileInfo info = check_model_file(file);
  return {info.mel_filters, info.shape.mels};
}

void run(const std::vector<std::string>& words) {
  const Options options({.defaults = {{"--seconds", "30"}, {"--rounds", "15"}}, .most_operands = 1}, words);
  if (options.operands().empty()) throw std::invalid_argument("MODEL is missing");
  const int samples = 16000 * integer(options["--seconds"], 1);
  const auto model = SpeechModel::load(options.operands()[0], "cpu");
  const StatePointer state(whisper_init_state(model->context()));
  const whisper::MelExtractor extractor = extractor_of(options.operands()[0]);
  const std::vector<float> sound = random_models::noise(static_cast<std::size_t>(samples), 1);
  std::vector<double> theirs, ours, ratios;
  for (int round = integer(options["--rounds"], 1); round >= 0; --round) {
    theirs.push_back(cost_of([&] {
                       whisper_pcm_to_mel_with_state(model->context(), state.get(), sound.data(), samples, 1);
                     }).wall_ms);
    ours.push_back(cost_of([&] { extractor.spectrogram(sound); }).wall_ms);
    ratios.push_back(theirs.back() / ours.back());
  }
  std::printf("| whisper.cpp | Verbatim | Verbatim, least | ratio |\n|--:|--:|--:|--:|\n");
  std::printf("| %.1f ms | %.1f ms | %.1f ms | %.1f |\n", median(theirs), median(ours), least(ours), median(ratios));
}

}  // namespace

int main(int count, char** values) { return run_program(count, values, run); }
