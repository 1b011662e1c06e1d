#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "accelerator/accelerator.h"
#include "speech/support.h"
#include "speech/whisper_cpp/slot.h"
#include "support/slot_aborts.h"

namespace verbatim {
namespace {

std::shared_ptr<const SpeechModel> accelerated() {
  return SpeechModel::load(test::bundled_model_path(), "cpu", AcceleratorMode::kAuto);
}

std::string transcript(Slot& slot, const test::Clip& clip) {
  return test::text_of(slot.transcribe(test::window_of(clip.file), test::own_length(), nullptr));
}

}  // namespace

TEST_CASE("a model names its accelerator, or names none and has no packed weights") {
  const auto model = accelerated();
  const auto plain = test::bundled_model();
  CHECK(model->info().accelerator == accelerator::name(model->packed_weights().get()));
  CHECK(plain->info().accelerator.empty());
  CHECK((model->packed_weights() == nullptr) == model->info().accelerator.empty());
  CHECK((model->info().memory_bytes == plain->info().memory_bytes) == model->info().accelerator.empty());
}

TEST_CASE("an abort stops accelerated work within a step and leaves the slot as new") {
  const auto model = accelerated();
  const test::Clip clip = test::sentences().front();
  const std::string expected = [&] {
    Slot fresh(model, 1);
    return transcript(fresh, clip);
  }();
  Slot slot(model, 1);
  // No decoding is likely enough, so every temperature is tried.
  DecodeOptions every_temperature;
  every_temperature.log_prob_threshold = 0.0f;
  test::check_aborts(slot, test::window_of(clip.file), every_temperature,
                     [&] { CHECK(transcript(slot, clip) == expected); });
}

TEST_CASE("accelerated transcripts have about whisper.cpp's word error rate") {
  Slot with(accelerated(), 1);
  Slot without(test::bundled_model(), 1);
  std::size_t words = 0;
  std::size_t errors_with = 0;
  std::size_t errors_without = 0;
  std::size_t same = 0;
  for (const test::Clip& clip : test::sentences()) {
    const std::string fast = transcript(with, clip);
    const std::string plain = transcript(without, clip);
    words += test::words_of(clip.text).size();
    errors_with += test::word_errors(clip.text, fast);
    errors_without += test::word_errors(clip.text, plain);
    same += fast == plain ? 1 : 0;
  }
  MESSAGE("words ", words, ", errors with ", errors_with, ", without ", errors_without, ", same transcripts ", same,
          " of ", test::sentences().size());
  // A few sentences of so small a set may differ, depending on the processor. bench/RESULTS-encoder.md has the word
  // error rates of a larger set.
  CHECK(errors_with <= errors_without + 3);
  CHECK(static_cast<double>(same) >= 0.75 * static_cast<double>(test::sentences().size()));
}

TEST_CASE("accelerated slots give the same text in parallel and alone") {
  const auto model = accelerated();
  const std::vector<test::Clip> clips = test::sentences();
  const std::size_t count = std::min<std::size_t>(clips.size(), 4);
  for (std::size_t i = 0; i < count; ++i) test::window_of(clips[i].file);
  std::vector<std::string> alone(count);
  {
    Slot slot(accelerated(), 1);
    for (std::size_t i = 0; i < count; ++i) alone[i] = transcript(slot, clips[i]);
  }
  std::vector<std::vector<std::string>> together(2, std::vector<std::string>(count));
  std::vector<std::thread> threads;
  for (std::vector<std::string>& texts : together) {
    threads.emplace_back([&] {
      Slot slot(model, 1);
      for (std::size_t i = 0; i < count; ++i) texts[i] = transcript(slot, clips[i]);
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(together[0] == alone);
  CHECK(together[1] == alone);
}

}  // namespace verbatim
