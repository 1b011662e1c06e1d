// Thousands of broken model files from a fixed seed. Whatever the check accepts, whisper.cpp and this engine's loader
// must load and run without crashing.
#include <doctest/doctest.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "error.h"
#include "speech/model_file.h"
#include "speech/support.h"
#include "speech/utf8.h"
#include "speech/whisper/own_model.h"
#include "speech/whisper_cpp/model.h"
#include "speech/whisper_cpp/slot.h"
#include "testing/file_mutator.h"

namespace verbatim {
namespace {

constexpr int kMutations = 1500;
constexpr int kRuns = 8;

// Byte offsets of structure in the bundled model: the header and the tensors' headers.
std::vector<std::size_t> structural_offsets(const std::string& model) {
  std::vector<std::size_t> offsets;
  for (std::size_t i = 0; i < 64; ++i) offsets.push_back(i);
  std::istringstream stream(model);
  for (const auto& [name, tensor] : expected_tensors(check_model_file(stream).shape)) {
    const std::size_t at = model.find(name);
    for (std::size_t i = at - 24; i < at + name.size(); ++i) offsets.push_back(i);
  }
  return offsets;
}

bool accepted(const std::string& bytes) {
  std::istringstream stream(bytes);
  try {
    check_model_file(stream);
    return true;
  } catch (const EngineError& error) {
    CHECK(error.code() == ErrorCode::kInvalidModel);
    CHECK(std::string(error.what()).size() < 400);
    return false;
  }
}

// The text may be anything, but must be valid UTF-8.
void load_and_run(const std::string& bytes) {
  const test::TemporaryFile file("mutated.bin");
  file.write(bytes);
  Slot slot(SpeechModel::load(file.path(), "cpu"), 1);
  DecodeOptions options;
  options.own_length = true;
  options.max_tokens = 16;
  options.temperature_increment = 0.5f;
  const std::string text = test::text_of(slot.transcribe(test::window_of("seen1-de-07.flac"), options, nullptr));
  CHECK(valid_utf8(text) == text);
}

// This engine's loader takes what the check accepts, and computes a result of the right size.
void load_and_run_on_our_own(const std::string& bytes) {
  const test::TemporaryFile file("mutated.bin");
  file.write(bytes);
  for (const AcceleratorMode mode : {AcceleratorMode::kOff, AcceleratorMode::kAuto}) {
    test::OwnModel own(file.path(), mode);
    const auto cross = own.encode(own.spectrogram(test::window_of("seen1-de-07.flac").samples), 64);
    const whisper::SpecialTokens& ids = own.model->vocabulary().special();
    const auto logits = own.logits({ids.start_of_transcript, ids.first_time_stamp}, *cross);
    CHECK(logits.back().size() == static_cast<std::size_t>(own.model->shape().vocabulary));
  }
}

}  // namespace

TEST_CASE("mutated model files are refused or harmless" * doctest::test_suite("long")) {
  const std::string model = test::file_text(test::bundled_model_path());
  test::FileMutator mutator(model, structural_offsets(model), 20261120);
  int refused = 0;
  int run = 0;
  for (int i = 0; i < kMutations; ++i) {
    const std::string bytes = mutator.next();
    if (!accepted(bytes)) {
      ++refused;
    } else if (run < kRuns) {
      ++run;
      load_and_run(bytes);
      load_and_run_on_our_own(bytes);
    }
  }
  CHECK(run == kRuns);
  CHECK(refused > kMutations / 2);
}

TEST_CASE("models of NaNs and of infinities run, and their results are valid text") {
  for (const char byte : {'\xff', '\x7f'}) {
    std::string model = test::file_text(test::bundled_model_path());
    std::istringstream stream(model);
    for (const auto& [name, tensor] : expected_tensors(check_model_file(stream).shape)) {
      if (tensor.type != GGML_TYPE_F32) continue;
      const std::size_t data = model.find(name) + name.size();
      std::fill_n(model.begin() + static_cast<std::ptrdiff_t>(data), tensor.bytes(), byte);
    }
    REQUIRE(accepted(model));
    load_and_run(model);
    load_and_run_on_our_own(model);
  }
}

}  // namespace verbatim
