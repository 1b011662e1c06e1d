// Word times of the bundled model's own texts.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "audio/sample_rate.h"
#include "error.h"
#include "speech/load_recogniser.h"
#include "speech/support.h"
#include "support/seed.h"
#include "testing/window_runner.h"

namespace verbatim {
namespace {

using test::text_of;
using test::tokens_of;
using test::WindowRunner;

std::shared_ptr<const Recogniser> bundled(const HeadSet& heads = {}) {
  return load_recogniser(test::bundled_model_path(), "cpu", AcceleratorMode::kAuto, "int8", heads);
}

DecodeOptions aligned(bool align = true) {
  DecodeOptions options;
  options.own_length = true;
  options.align = align;
  return options;
}

std::shared_ptr<const Window> shared_window(const std::string& file) {
  return std::make_shared<Window>(test::window_of(file));
}

// Samples [first, first + count) of a clip, or fewer at its end.
std::shared_ptr<const Window> part_of(const std::string& file, std::size_t first, std::size_t count) {
  const auto& samples = test::window_of(file).samples;
  auto window = std::make_shared<Window>();
  const auto begin = samples.begin() + static_cast<std::ptrdiff_t>(std::min(first, samples.size()));
  const auto size = std::min(count, static_cast<std::size_t>(samples.end() - begin));
  window->samples.assign(begin, begin + static_cast<std::ptrdiff_t>(size));
  return window;
}

std::vector<Word> words_of(const WindowResult& result) {
  std::vector<Word> words;
  for (const Segment& segment : result.segments) words.insert(words.end(), segment.words.begin(), segment.words.end());
  return words;
}

void check_words(const WindowResult& result, double seconds) {
  double at = 0.0;
  for (const Segment& segment : result.segments) {
    std::string joined;
    REQUIRE_FALSE(segment.words.empty());
    for (const Word& word : segment.words) {
      joined += word.text;
      CHECK(word.start_seconds >= at);
      CHECK(word.end_seconds >= word.start_seconds);
      CHECK(word.probability >= 0.0f);
      CHECK(word.probability <= 1.0f);
      at = word.end_seconds;
    }
    CHECK(joined == segment.text);
    CHECK(segment.start_seconds == segment.words.front().start_seconds);
    CHECK(segment.end_seconds == segment.words.back().end_seconds);
  }
  CHECK(at <= seconds);
}

double length_of(const Window& window) { return window.end_seconds() - window.start_seconds(); }

// Seconds of the first and of the last 20 ms that are less than 30 dB below the loudest.
std::pair<double, double> sound_of(const Window& window) {
  constexpr std::size_t kFrame = kSampleRate / 50;
  std::vector<float> energies;
  for (std::size_t at = 0; at + kFrame <= window.samples.size(); at += kFrame) {
    float energy = 0.0f;
    for (std::size_t i = at; i < at + kFrame; ++i) energy += window.samples[i] * window.samples[i];
    energies.push_back(energy);
  }
  const float least = *std::ranges::max_element(energies) / 1000.0f;
  std::size_t first = 0, last = energies.size();
  while (energies[first] < least) ++first;
  while (energies[last - 1] < least) --last;
  return {static_cast<double>(first) / 50, static_cast<double>(last) / 50};
}

EngineError failure(const std::function<void()>& call) {
  try {
    call();
  } catch (const EngineError& error) {
    return error;
  }
  return {ErrorCode::kInternalError, "nothing was thrown"};
}

std::string message(const std::function<void()>& call) { return failure(call).what(); }

}  // namespace

TEST_CASE("alignment: the words of every clip are its text, in order, within its speech") {
  const auto recogniser = bundled();
  WindowRunner runner(*recogniser, {});
  for (const test::Clip& clip : test::clips()) {
    CAPTURE(clip.file);
    Window spoken = test::window_of(clip.file);
    const auto [first, last] = sound_of(spoken);
    spoken.speech = {{static_cast<std::size_t>(first * kSampleRate), static_cast<std::size_t>(last * kSampleRate)}};
    const auto window = std::make_shared<Window>(std::move(spoken));
    const WindowResult result = runner.transcribe(window, aligned());
    check_words(result, length_of(*window));
    const auto words = words_of(result);
    REQUIRE(words.size() >= 2);
    CHECK(words.front().start_seconds >= first - 0.001);
    CHECK(words.back().end_seconds <= last + 0.001);
    CHECK(words[1].start_seconds > first);
    CHECK(words.back().start_seconds < last);
    // Words are spread over the speech, not concentrated at one place.
    std::size_t heaped = 0;
    for (std::size_t i = 1; i < words.size(); ++i)
      heaped += words[i].start_seconds > words[i - 1].start_seconds ? 0 : 1;
    CHECK(heaped <= words.size() / 8);
  }
}

TEST_CASE("alignment: the text is the same with words and without, alone and beside others") {
  const auto recogniser = bundled();
  std::vector<std::shared_ptr<const Window>> windows;
  for (const test::Clip& clip : test::clips()) windows.push_back(shared_window(clip.file));
  const auto options_of = [](std::size_t i, bool align) {
    DecodeOptions options = aligned(align);
    if (i % 3 == 1) options.beam_size = 3;
    if (i % 3 == 2) options.temperature = 0.4f;
    // More than one encoder pass.
    if (i % 4 == 3) options.max_tokens = 5;
    return options;
  };
  WindowRunner one(*recogniser, {});
  WindowRunner many(*recogniser, {.lanes = 2, .threads = 1, .steps = 2, .full_batch = 3});
  std::vector<WindowResult> plain, words;
  for (std::size_t i = 0; i < windows.size(); ++i) {
    plain.push_back(one.transcribe(windows[i], options_of(i, false)));
    words.push_back(one.transcribe(windows[i], options_of(i, true)));
  }
  for (std::uint32_t round = 0; round < 2; ++round) {
    std::vector<std::size_t> order(2 * windows.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::shuffle(order.begin(), order.end(), std::mt19937(test::seed() + round));
    std::vector<std::shared_ptr<WindowInFlight>> started;
    for (const std::size_t i : order) started.push_back(many.start(windows[i / 2], options_of(i / 2, i % 2 == 0)));
    for (std::size_t i = 0; i < order.size(); ++i) {
      const std::size_t clip = order[i] / 2;
      CAPTURE(test::clips()[clip].file);
      const WindowResult result = many.finish(*started[i]);
      CHECK(tokens_of(result) == tokens_of(plain[clip]));
      CHECK(text_of(result) == text_of(plain[clip]));
      CHECK(result.average_log_probability == plain[clip].average_log_probability);
      CHECK(result.timings.encoder_passes == plain[clip].timings.encoder_passes);
      if (order[i] % 2 == 0) {
        CHECK(words_of(result) == words_of(words[clip]));
      } else {
        CHECK(words_of(result).empty());
      }
    }
  }
}

TEST_CASE("alignment: windows of any length and position have words that are their text") {
  const auto recogniser = bundled();
  WindowRunner runner(*recogniser, {.lanes = 1, .threads = 1, .steps = 4, .full_batch = 4});
  std::mt19937 random(test::seed());
  const auto& clips = test::clips();
  for (const std::size_t samples : {320, 1799, 1800, 1960, 2400, 8000}) {
    const auto window = part_of(clips.front().file, 12000, samples);
    check_words(runner.transcribe(window, aligned()), length_of(*window));
  }
  for (int round = 0; round < 24; ++round) {
    const auto window = part_of(clips[random() % clips.size()].file, random() % 60000, random() % 100000);
    DecodeOptions options = aligned();
    options.max_tokens = static_cast<int>(random() % 3) * 4;
    options.task = round % 5 == 0 ? SpeechTask::kTranslate : SpeechTask::kTranscribe;
    auto mapped = std::make_shared<Window>(*window);
    if (round % 2 == 0 && window->samples.size() > 100) {
      mapped->speech = {{window->samples.size() / 5, window->samples.size() / 2},
                        {window->samples.size() / 2 + 20, window->samples.size() - 20}};
    }
    CAPTURE(round);
    check_words(runner.transcribe(mapped, options), length_of(*window));
  }
}

TEST_CASE("alignment: words stay within the detected speech") {
  const auto recogniser = bundled();
  WindowRunner runner(*recogniser, {});
  auto window = std::make_shared<Window>(test::window_of(test::clips().front().file));
  const auto [first, last] = sound_of(*window);
  const auto sample = [](double seconds) { return static_cast<std::size_t>(seconds * kSampleRate); };
  window->speech = {{sample(first), sample(last)}};
  const auto words = words_of(runner.transcribe(window, aligned()));
  CHECK(words.front().start_seconds >= first);
  CHECK(words.back().end_seconds <= last);
}

TEST_CASE("alignment: a window aborted while its words are aligned leaves at the next step") {
  const auto recogniser = bundled();
  const auto encoder = recogniser->make_encoder(1);
  const auto batch = recogniser->make_batch();
  const auto begin = [&](bool align) {
    auto started = recogniser->open(shared_window(test::clips().front().file), aligned(align));
    while (started->stage() == WindowStage::kEncode) encoder->advance(*started);
    REQUIRE(started->stage() == WindowStage::kDecode);
    batch->add(started);
    return started;
  };
  begin(false);
  int steps = 0;
  while (batch->size() > 0) steps += batch->advance(1, 1).steps;
  const auto window = begin(true);
  CHECK(batch->advance(steps, 1).left.empty());
  CHECK(window->memory_bytes() > 0);
  window->abort();
  const BatchAdvance advance = batch->advance(1, 1);
  REQUIRE(advance.left.size() == 1);
  CHECK(advance.steps == 0);
  CHECK(window->memory_bytes() == 0);
  CHECK(failure([&] { window->result(); }).code() == ErrorCode::kAborted);
}

TEST_CASE("alignment: heads are the given ones, else all of the upper half") {
  const DecoderHeads all = bundled()->decoder_heads();
  CHECK(all.layers >= 2);
  HeadSet upper;
  for (auto layer = static_cast<std::size_t>(all.layers / 2); layer < static_cast<std::size_t>(all.layers); ++layer) {
    for (std::size_t head = 0; head < static_cast<std::size_t>(all.heads); ++head) upper.push_back({layer, head});
  }
  CHECK(all.alignment == upper);
  const HeadSet given{{1, 1}, {0, 0}};
  CHECK(bundled(given)->decoder_heads().alignment == given);
  // The alignment heads affect the times.
  const auto window = shared_window(test::clips().front().file);
  const auto starts = [&](const HeadSet& heads) {
    const auto recogniser = bundled(heads);
    std::vector<double> times;
    for (const Word& word : words_of(WindowRunner(*recogniser, {}).transcribe(window, aligned())))
      times.push_back(word.start_seconds);
    return times;
  };
  CHECK(starts({{0, 0}}) != starts({{static_cast<std::size_t>(all.layers) - 1, 0}}));
  const auto no_layer = [&] { bundled({{0, 0}, {static_cast<std::size_t>(all.layers), 0}}); };
  CHECK(failure(no_layer).code() == ErrorCode::kInvalidArgument);
  CHECK(message(no_layer).find("alignmentHeads[1]") != std::string::npos);
  CHECK(message([&] { bundled({{0, static_cast<std::size_t>(all.heads)}}); }).find("heads 0 to") != std::string::npos);
  CHECK(message([] { bundled({{0, 0}, {0, 0}}); }).find("there already") != std::string::npos);
}

TEST_CASE("alignment: a known text has the times of a recognised one") {
  const auto recogniser = bundled();
  WindowRunner runner(*recogniser, {});
  const test::Clip clip = test::sentences().front();
  const auto window = shared_window(clip.file);
  DecodeOptions options = aligned();
  options.language = clip.language;
  const WindowResult decoded = runner.transcribe(window, options);
  const KnownText text{text_of(decoded), clip.language, true};
  const HeadSet all = recogniser->decoder_heads().alignment;
  const std::vector<HeadSet> sets{all, {all.front()}, {{0, 0}}};
  const TextAlignment known = recogniser->align_text(*window, text, sets, 1, nullptr);
  const auto words = words_of(decoded);
  REQUIRE(known.words.size() == words.size());
  REQUIRE(known.times.size() == sets.size());
  for (const TextAlignment::Times& times : known.times) {
    CHECK(times.starts.size() == words.size());
    CHECK(std::ranges::is_sorted(times.starts));
    for (std::size_t i = 0; i < words.size(); ++i) CHECK(times.ends[i] >= times.starts[i]);
  }
  CHECK(known.times[0].starts != known.times[2].starts);
  for (std::size_t i = 0; i < words.size(); ++i) {
    CHECK(known.words[i] == words[i].text);
    // Except for words cut at sentences, and for a text that is spelled with other tokens.
    if (i > 0) CHECK(std::abs(known.times[0].starts[i] - words[i].start_seconds) < 0.1);
  }
}

TEST_CASE("alignment: a known text is refused with the cause, or has a result") {
  const auto recogniser = bundled();
  const auto window = part_of(test::clips().front().file, 8000, 24000);
  const std::vector<HeadSet> sets{{{0, 0}}};
  const auto align = [&](const KnownText& text, const std::vector<HeadSet>& by, const Window& of) {
    return recogniser->align_text(of, text, by, 1, nullptr);
  };
  CHECK(message([&] { align({"", "en"}, sets, *window); }).find("text") != std::string::npos);
  CHECK(message([&] { align({" a", "auto"}, sets, *window); }).find("auto") != std::string::npos);
  CHECK(message([&] { align({" a", "en"}, {}, *window); }).find("no set") != std::string::npos);
  CHECK(message([&] { align({" a", "en"}, {{}}, *window); }).find("empty") != std::string::npos);
  CHECK(message([&] { align({" a", "en"}, {{{99, 0}}}, *window); }).find("layer 99") != std::string::npos);
  CHECK(message([&] { align({" a", "en"}, sets, {}); }).find("empty") != std::string::npos);
  CHECK(failure([&] { align({" a", "xx"}, sets, *window); }).code() == ErrorCode::kUnsupportedLanguage);
  CHECK(failure([&] { align({" a", "en"}, sets, test::silence(30.1)); }).code() == ErrorCode::kInvalidArgument);
  AbortFlag abort;
  abort.set();
  const auto aborted = [&] { recogniser->align_text(*window, {" a", "en"}, sets, 1, &abort); };
  CHECK(failure(aborted).code() == ErrorCode::kAborted);
  // One token in 20 ms; and more tokens than the decoder has positions.
  CHECK(align({"a", "en", true}, sets, *part_of(test::clips().front().file, 8000, 320)).words ==
        std::vector<std::string>{"a"});
  std::string long_text;
  for (int i = 0; i < 700; ++i) long_text += " no";
  const TextAlignment much = align({long_text, "en", true}, sets, *window);
  CHECK(much.words.size() == 700);
  CHECK(std::ranges::is_sorted(much.times[0].starts));
  CHECK(much.times[0].ends.back() <= 1.52);
}

}  // namespace verbatim
