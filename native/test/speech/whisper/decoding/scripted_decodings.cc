#include "speech/whisper/decoding/scripted_decodings.h"

#include <doctest/doctest.h>
#include <whisper.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <span>
#include <stdexcept>

#include "speech/random_models/random_whisper_model.h"
#include "speech/support.h"
#include "speech/whisper_cpp/full_params.h"
#include "speech/whisper_cpp/whisper_state.h"

namespace verbatim::test {
namespace {

using whisper::TokenId;

constexpr int kWidth = 64;
// Positions of the audio context; their contents have no effect.
constexpr int kAudioContext = 256;
constexpr int kMels = 80;
// Any text token. With the first time stamp, one of the two is never suppressed.
constexpr TokenId kMark = 7;

// The least number of samples with so many mel frames, and a little more.
std::size_t samples_of(const ScriptedWindow& window) { return static_cast<std::size_t>(window.length - 1) * 160 + 280; }

ModelShape tiny_shape(int vocabulary, int layers) {
  return {vocabulary, 1500, kWidth, 1, 1, 448, kWidth, 1, layers, kMels, 1};
}

// Overwrites a tensor of floats in a model's file.
void set_tensor(std::string& file, const std::string& name, const std::vector<float>& values) {
  const std::size_t at = file.find(name);
  if (at == std::string::npos) throw std::runtime_error("the model lacks " + name);
  std::memcpy(file.data() + at + name.size(), values.data(), values.size() * sizeof(float));
}

// A model whose logits do not depend on its input: they are always the first column of the embeddings.
std::shared_ptr<const SpeechModel> load_constant_model(int vocabulary, int layers) {
  const TemporaryFile file("indifferent-" + std::to_string(vocabulary) + ".bin");
  random_models::write_random_model(tiny_shape(vocabulary, layers), 1, file.path());
  std::string bytes = file_text(file.path());
  std::vector<float> first(kWidth, 0.0f);
  set_tensor(bytes, "decoder.ln.weight", first);
  first[0] = 1.0f;
  set_tensor(bytes, "decoder.ln.bias", first);
  file.write(bytes);
  return SpeechModel::load(file.path(), "cpu");
}

StatePointer new_state(const SpeechModel& model, int length) {
  StatePointer state(whisper_init_state(model.context()));
  const std::vector<float> silence(static_cast<std::size_t>(length) * kMels, 0.0f);
  REQUIRE(whisper_set_mel_with_state(model.context(), state.get(), silence.data(), length, kMels) == 0);
  return state;
}

std::vector<float> own_logits(const SpeechModel& model) {
  const StatePointer state = new_state(model, 100);
  whisper_context* context = model.context();
  const whisper_token start = whisper_token_sot(context);
  REQUIRE(whisper_encode_with_state(context, state.get(), 0, 1) == 0);
  REQUIRE(whisper_decode_with_state(context, state.get(), &start, 1, 0, 1) == 0);
  const float* logits = whisper_get_logits_from_state(state.get());
  return {logits, logits + whisper_n_vocab(context)};
}

// The list of whisper_full_with_state itself.
std::vector<float> temperatures_of(const DecodeOptions& options) {
  std::vector<float> all = {options.temperature};
  if (!(options.temperature_increment > 0.0f)) return all;
  for (float t = options.temperature + options.temperature_increment; t < 1.0f + 1e-6f;
       t += options.temperature_increment) {
    all.push_back(t);
  }
  return all;
}

// Replaces the logits of one call of whisper_full_with_state by the script's.
class Player {
 public:
  Player(whisper_state* state, const LogitsScript& script, const ScriptedWindow& window, const std::vector<float>& own,
         TokenId first_time_stamp)
      : state_(state),
        script_(script),
        temperatures_(temperatures_of(window.options)),
        own_(own),
        marks_{kMark, first_time_stamp},
        row_(own.size()),
        most_passes_(4 + static_cast<int>(samples_of(window) / 32000)) {}

  void attach(whisper_full_params& params) {
    params.encoder_begin_callback = [](whisper_context*, whisper_state*, void* data) {
      return player(data).begin_pass();
    };
    params.abort_callback = [](void* data) {
      player(data).set_start();
      return false;
    };
    params.logits_filter_callback = [](whisper_context*, whisper_state*, const whisper_token_data* tokens, int count,
                                       float* logits, void* data) {
      player(data).play({tokens, static_cast<std::size_t>(count)}, logits);
    };
    params.encoder_begin_callback_user_data = this;
    params.abort_callback_user_data = this;
    params.logits_filter_callback_user_data = this;
  }

  int passes() const { return pass_ + 1; }
  int prompts() const { return prompts_; }

 private:
  static Player& player(void* data) { return *static_cast<Player*>(data); }

  bool begin_pass() {
    if (pass_ + 1 == most_passes_) return false;
    ++pass_;
    encoding_ = true;
    return true;
  }

  // whisper.cpp reads the no-speech probability from the first row. play() overwrites its other values.
  void set_start() {
    if (!encoding_) script_.fill(pass_, {}, {whisper_get_logits_from_state(state_), own_.size()});
    encoding_ = false;
  }

  void play(std::span<const whisper_token_data> tokens, float* logits) {
    if (tokens.empty()) ++prompts_;
    std::vector<TokenId> text;
    for (const whisper_token_data& token : tokens) text.push_back(token.id);
    const float temperature = temperature_of(logits);
    script_.fill(pass_, text, row_);
    for (std::size_t i = 0; i < row_.size(); ++i) {
      if (logits[i] > -INFINITY) logits[i] = temperature > 0.0f ? row_[i] / temperature : row_[i];
    }
  }

  float temperature_of(const float* logits) const {
    for (const TokenId mark : marks_) {
      const float seen = logits[mark];
      if (!(seen > -INFINITY)) continue;
      for (const float t : temperatures_) {
        if (seen == (t > 0.0f ? own_[static_cast<std::size_t>(mark)] / t : own_[static_cast<std::size_t>(mark)])) {
          return t;
        }
      }
    }
    FAIL("the row's temperature is unknown");
    return 0.0f;
  }

  whisper_state* state_;
  const LogitsScript& script_;
  std::vector<float> temperatures_;
  const std::vector<float>& own_;
  std::vector<TokenId> marks_;
  std::vector<float> row_;
  int most_passes_;
  int pass_ = -1;
  int prompts_ = 0;
  bool encoding_ = false;
};

whisper::DecodedSegment segment_of(whisper_state* state, int index) {
  whisper::DecodedSegment segment;
  segment.start = whisper_full_get_segment_t0_from_state(state, index);
  segment.end = whisper_full_get_segment_t1_from_state(state, index);
  segment.no_speech_probability = whisper_full_get_segment_no_speech_prob_from_state(state, index);
  for (int i = 0; i < whisper_full_n_tokens_from_state(state, index); ++i) {
    const auto token = whisper_full_get_token_data_from_state(state, index, i);
    segment.tokens.push_back({token.id, token.tid, token.p, token.plog});
  }
  return segment;
}

}  // namespace

ScriptedWhisperCpp::ScriptedWhisperCpp(int vocabulary, int layers)
    : speech_(load_constant_model(vocabulary, layers)), logits_(own_logits(*speech_)) {
  decoding_.tokens = whisper::special_tokens(vocabulary);
  decoding_.blank = 0;  // as in the random model
  decoding_.languages = speech_->info().languages;
  decoding_.time_stamps = layers != 2 || vocabulary == 51866;
}

LogitsScript ScriptedWhisperCpp::script(const ScriptedWindow& window) const {
  LogitsScript script(decoding_.tokens, decoding_.blank, window.style, window.seed);
  for (const TokenId mark : {kMark, decoding_.tokens.first_time_stamp}) {
    script.fixed.emplace_back(mark, logits_[static_cast<std::size_t>(mark)]);
  }
  return script;
}

ScriptedResult ScriptedWhisperCpp::run(const ScriptedWindow& window) const {
  const LogitsScript logits = script(window);
  const StatePointer state = new_state(*speech_, window.length);
  whisper_full_params params = full_params(window.options, 1);
  params.audio_ctx = kAudioContext;
  params.language = window.options.language.c_str();
  params.prompt_tokens = window.initial_prompt.data();
  params.prompt_n_tokens = static_cast<int>(window.initial_prompt.size());
  params.carry_initial_prompt = !window.initial_prompt.empty();
  Player player(state.get(), logits, window, logits_, decoding_.tokens.first_time_stamp);
  player.attach(params);
  REQUIRE(whisper_full_with_state(speech_->context(), state.get(), params, nullptr, 0) == 0);
  ScriptedResult result;
  for (int i = 0; i < whisper_full_n_segments_from_state(state.get()); ++i) {
    result.segments.push_back(segment_of(state.get(), i));
  }
  result.passes = player.passes();
  result.fallbacks = player.prompts() - player.passes();
  return result;
}

namespace {

// The texts of a decoding's histories, rebuilt from its requests.
class Histories {
 public:
  explicit Histories(const whisper::SpecialTokens& tokens) : tokens_(tokens) {}

  void go_on(const whisper::DecodingRequest& request) {
    std::vector<std::vector<TokenId>> next;
    for (const std::size_t parent : request.parents) {
      const bool is_new = parent == whisper::DecodingRequest::kNewText;
      next.push_back(is_new ? std::vector<TokenId>() : texts_.at(parent));
    }
    texts_ = std::move(next);
  }

  // Appends this row's token; returns the text behind the prompt.
  std::span<const TokenId> append(const whisper::DecodingRow& row) {
    std::vector<TokenId>& text = texts_.at(row.history);
    text.push_back(row.token);
    const auto last = std::find(text.rbegin(), text.rend(), tokens_.start_of_transcript);
    const auto is_of_prompt = [&](TokenId id) {
      return tokens_.is_language(id) || id == tokens_.transcribe || id == tokens_.translate ||
             id == tokens_.no_time_stamps;
    };
    return {std::find_if_not(last.base(), text.end(), is_of_prompt), text.end()};
  }

 private:
  const whisper::SpecialTokens& tokens_;
  std::vector<std::vector<TokenId>> texts_;
};

}  // namespace

ScriptedResult run_window_decoding(const ScriptedWhisperCpp& reference, const ScriptedWindow& window) {
  using Phase = whisper::WindowDecoding::Phase;
  const LogitsScript script = reference.script(window);
  whisper::WindowDecoding decoding(reference.model(), window.options, window.initial_prompt, samples_of(window),
                                   window.prefix);
  Histories histories(reference.model().tokens);
  std::vector<float> logits(static_cast<std::size_t>(reference.model().tokens.vocabulary));
  ScriptedResult result;
  while (decoding.phase() != Phase::kDone) {
    if (decoding.phase() == Phase::kEncode) {
      decoding.encoded();
      ++result.passes;
      continue;
    }
    const whisper::DecodingRequest& request = decoding.request();
    histories.go_on(request);
    for (std::size_t i = 0; i < request.rows.size(); ++i) {
      const auto text = histories.append(request.rows[i]);
      if (!request.rows[i].wants_logits) continue;
      script.fill(result.passes - 1, text, logits);
      decoding.on_logits(i, logits);
    }
    decoding.advance();
  }
  result.segments = decoding.segments();
  result.fallbacks = decoding.result([](TokenId) { return "w"; }).timings.fallbacks;
  return result;
}

}  // namespace verbatim::test
