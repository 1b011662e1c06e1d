#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "accel/accelerator.h"
#include "speech/slot.h"
#include "speech/speech_support.h"
#include "support/slot_aborts.h"

namespace verbatim {
namespace {

DecodeOptions own_length() {
  DecodeOptions options;
  options.own_length = true;
  return options;
}

std::shared_ptr<const SpeechModel> accelerated() {
  return SpeechModel::load(test::bundled_model_path(), "cpu", Acceleration::kAuto);
}

std::string transcript(Slot& slot, const test::Clip& clip) {
  return test::text_of(slot.transcribe(test::window_of(clip.file), own_length(), nullptr));
}

}  // namespace

TEST_CASE("a model names its accelerator, and its memory counts the packed weights") {
  const auto model = accelerated();
  CHECK(model->info().accelerator == accel::accelerator_name(model->packed_weights().get()));
  CHECK(test::bundled_model()->info().accelerator.empty());
  if (!model->packed_weights()) {
    CHECK(model->info().memory_bytes == test::bundled_model()->info().memory_bytes);
    return;
  }
  const auto exact = SpeechModel::load(test::bundled_model_path(), "cpu", Acceleration::kFloat32);
  CHECK(exact->info().accelerator == "onednn float32");
  CHECK(exact->info().memory_bytes >= model->info().memory_bytes);
  CHECK(model->info().memory_bytes > test::bundled_model()->info().memory_bytes);
  CHECK(accel::packed_bytes(model->packed_weights().get()) == 0);
  Slot slot(model, 1);
  DecodeOptions options = own_length();
  // A long prompt must not get the decoder's own weights packed.
  for (int i = 0; i < 120; ++i) options.initial_prompt += " Hoy es domingo.";
  slot.transcribe(test::window_of(test::sentences().front().file), options, nullptr);
  const auto packed = static_cast<double>(accel::packed_bytes(model->packed_weights().get()));
  const auto counted =
      static_cast<double>(model->info().memory_bytes - test::bundled_model()->info().memory_bytes);
  CHECK(packed > 0.5 * counted);
  CHECK(packed < 1.05 * counted);
  CHECK(slot.memory_bytes() > Slot(test::bundled_model(), 1).memory_bytes());
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
  DecodeOptions restless;
  restless.log_prob_threshold = 0.0f;
  test::check_aborts(slot, test::window_of(clip.file), restless,
                     [&] { CHECK(transcript(slot, clip) == expected); });
}

TEST_CASE("accelerated transcripts are as good as whisper.cpp's") {
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
  MESSAGE("words ", words, ", errors with ", errors_with, ", without ", errors_without, ", same transcripts ",
          same, " of ", test::sentences().size());
  // A sentence or two of a set this small may tip over, and which depends on the processor;
  // bench/RESULTS-encoder.md has the word error rates of a larger one.
  CHECK(errors_with <= errors_without + 3);
  CHECK(static_cast<double>(same) >= 0.75 * static_cast<double>(test::sentences().size()));
}

TEST_CASE("accelerated slots side by side write what one alone writes") {
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
