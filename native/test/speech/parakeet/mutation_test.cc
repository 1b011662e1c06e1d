// A thousand broken Parakeet files from a fixed seed: each is refused with a clear error, or whisper.cpp loads and runs
// it.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "error.h"
#include "speech/load_slot_model.h"
#include "speech/parakeet/model_file.h"
#include "speech/parakeet/small_model.h"
#include "speech/random_models/noise.h"
#include "speech/support.h"
#include "speech/utf8.h"
#include "testing/file_mutator.h"

namespace verbatim::parakeet {
namespace {

constexpr int kMutations = 1000;

// Byte offsets of structure: the header, the sizes behind it, the tensors' headers.
std::vector<std::size_t> structural_offsets(const std::string& model, const ModelShape& shape) {
  std::vector<std::size_t> offsets;
  // The header counts as much as the tensors together.
  for (int turn = 0; turn < 40; ++turn) {
    for (std::size_t i = 0; i < 72; ++i) offsets.push_back(i);
  }
  const auto tensors = expected_tensors(shape);
  // In the same order on every machine.
  for (const auto& [name, tensor] : std::map(tensors.begin(), tensors.end())) {
    const std::size_t at = model.find(name);
    for (std::size_t i = at - 16; i < at + name.size(); ++i) offsets.push_back(i);
  }
  return offsets;
}

Window some_sound() {
  Window window;
  window.samples = random_models::noise(2 * kSampleRate, 3);
  return window;
}

// Whether the file was accepted; its text must then be valid UTF-8.
bool loads_and_runs(const std::string& bytes, AcceleratorMode accelerator, std::string_view compute = "auto") {
  const test::TemporaryFile file("mutated-parakeet.bin");
  file.write(bytes);
  std::shared_ptr<const SlotModel> model;
  try {
    model = load_slot_model(file.path(), "cpu", accelerator, compute);
  } catch (const EngineError& error) {
    // A file of another family has no type to choose.
    const bool is_other = compute != "auto" && error.code() == ErrorCode::kInvalidArgument;
    if (!is_other) CHECK(error.code() == ErrorCode::kInvalidModel);
    CHECK(std::string(error.what()).find("whisper.cpp refused") == std::string::npos);
    CHECK(std::string(error.what()).size() < 400);
    return false;
  }
  DecodeOptions options;
  options.language = "en";
  options.align = true;
  const WindowResult result = model->make_slot(1)->transcribe(some_sound(), options, nullptr);
  const std::string text = test::text_of(result);
  CHECK(valid_utf8(text) == text);
  return true;
}

}  // namespace

TEST_CASE("a thousand mutated Parakeet files are refused, or run") {
  const test::SmallParakeet small;
  const std::string model = test::file_text(small.path());
  test::FileMutator mutator(model, structural_offsets(model, small.shape), 20261122);
  int refused = 0;
  for (int i = 0; i < kMutations; ++i) {
    CAPTURE(i);
    // In turns, so that every runtime gets hundreds of accepted files.
    const auto accelerator = i % 2 == 1 ? AcceleratorMode::kAuto : AcceleratorMode::kOff;
    if (!loads_and_runs(mutator.next(), accelerator, i % 4 == 1 ? "int8" : "auto")) ++refused;
  }
  CHECK(refused > kMutations / 2);
  CHECK(refused < kMutations - 50);
}

TEST_CASE("Parakeet models of NaNs and of infinities run and end") {
  const test::SmallParakeet small;
  for (const char byte : {'\xff', '\x7f'}) {
    std::string model = test::file_text(small.path());
    for (const auto& [name, tensor] : expected_tensors(small.shape)) {
      if (tensor.type != GGML_TYPE_F32) continue;
      const std::size_t data = model.find(name) + name.size();
      std::fill_n(model.begin() + static_cast<std::ptrdiff_t>(data), tensor.bytes(), byte);
    }
    for (const auto mode : {AcceleratorMode::kOff, AcceleratorMode::kFloat32, AcceleratorMode::kAuto}) {
      CHECK(loads_and_runs(model, mode));
    }
    CHECK(loads_and_runs(model, AcceleratorMode::kAuto, "int8"));
  }
}

}  // namespace verbatim::parakeet
