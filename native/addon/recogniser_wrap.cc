#include "recogniser_wrap.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "audio_window_wrap.h"
#include "call_abort.h"
#include "decoder_batch_wrap.h"
#include "failure.h"
#include "head_conversion.h"
#include "option_reader.h"
#include "promise_work.h"
#include "speech/load_recogniser.h"
#include "speech_conversion.h"
#include "window_encoder_wrap.h"
#include "window_in_flight_wrap.h"

namespace verbatim::addon {

namespace {

// The property `weightCache` of a model's options; no cache if it is absent.
transformer::WeightCacheOptions weight_cache(Napi::Value options) {
  transformer::WeightCacheOptions out;
  const Napi::Value value = options.As<Napi::Object>().Get("weightCache");
  if (value.IsUndefined()) return out;
  const OptionReader reader(value, "options.weightCache");
  double max_bytes = 0.0;
  bool is_always_shared = false;
  reader.required("maxBytes", max_bytes);
  reader.optional("alwaysShared", is_always_shared);
  if (max_bytes < 0.0) throw argument_error(value.Env(), "options.weightCache.maxBytes must be 0 or more.");
  out.directory = path_argument(value.As<Napi::Object>().Get("directory"));
  out.max_bytes = static_cast<std::uint64_t>(max_bytes);
  if (is_always_shared) out.sharing = transformer::WeightSharing::kAlways;
  return out;
}

}  // namespace

std::vector<RecogniserWrap::PropertyDescriptor> RecogniserWrap::members() {
  return {InstanceMethod<&RecogniserWrap::open_window>("openWindow"),
          InstanceMethod<&RecogniserWrap::create_encoder>("createEncoder"),
          InstanceMethod<&RecogniserWrap::create_batch>("createBatch"),
          InstanceMethod<&RecogniserWrap::align_text>("alignText"), closing_method("close")};
}

RecogniserWrap::RecogniserWrap(const Napi::CallbackInfo& info) : Handle(info) {
  const Recogniser& model = *state()->model;
  define_value("info", to_js(info.Env(), model.info()));
  define_value("decoderHeads", to_js(info.Env(), model.decoder_heads()));
  define_value("longestWindowSeconds", Napi::Number::New(info.Env(), model.longest_window_seconds()));
}

Napi::Value RecogniserWrap::load(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  return promise_from(env, [&] {
    const std::filesystem::path path = path_argument(info[0]);
    std::string device;
    AcceleratorMode accelerator = AcceleratorMode::kOff;
    std::string compute = "auto";
    const OptionReader options(info[1], "options");
    options.required("device", device);
    read_accelerator(options, accelerator);
    options.optional("compute", compute);
    const HeadSet heads = alignment_heads(info[1]);
    const transformer::WeightCacheOptions weights = weight_cache(info[1]);
    return run_on_worker(
        env, "verbatim.loadRecogniser",
        [path, device, accelerator, compute, heads, weights] {
          return load_recogniser(path, device, accelerator, compute, heads, SpeechExecutor::kByDevice, weights);
        },
        [](Napi::Env e, std::shared_ptr<const Recogniser> model) {
          return wrap(e, std::make_shared<HeldRecogniser>(e, std::move(model)));
        });
  });
}

Napi::Value RecogniserWrap::open_window(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  return value_from(env, [&] {
    const std::shared_ptr<HeldWindow> audio = AudioWindowWrap::from_js(info[0], "window")->state();
    const DecodeOptions options = decode_options(info[1]);
    return WindowInFlightWrap::wrap(env, std::make_shared<HeldInFlight>(env, state(), audio, options));
  });
}

Napi::Value RecogniserWrap::create_encoder(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  return promise_from(env, [&] {
    int threads = 0;
    OptionReader(info[0], "options").required("threads", threads);
    return run_on_worker(
        env, "verbatim.createEncoder", [held = state(), threads] { return held->model->make_encoder(threads); },
        [held = state(), threads](Napi::Env e, std::unique_ptr<WindowEncoder> encoder) {
          return WindowEncoderWrap::wrap(e, std::make_shared<HeldEncoder>(e, held, std::move(encoder), threads));
        });
  });
}

Napi::Value RecogniserWrap::create_batch(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  return promise_from(env, [&] {
    return run_on_worker(
        env, "verbatim.createBatch", [held = state()] { return held->model->make_batch(); },
        [held = state()](Napi::Env e, std::unique_ptr<DecoderBatch> batch) {
          return DecoderBatchWrap::wrap(e, std::make_shared<HeldBatch>(e, held, std::move(batch)));
        });
  });
}

Napi::Value RecogniserWrap::align_text(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  return promise_from(env, [&] {
    const std::shared_ptr<HeldWindow> audio = AudioWindowWrap::from_js(info[0], "window")->state();
    const OptionReader options(info[1], "options");
    KnownText text;
    int threads = 0;
    options.required("text", text.text);
    options.required("language", text.language);
    options.optional("ownLength", text.own_length);
    options.required("threads", threads);
    const std::vector<HeadSet> sets = head_sets(info[1].As<Napi::Object>().Get("headSets"), "options.headSets");
    CallAbort abort(env, info[2]);
    return run_on_worker(
        env, "verbatim.alignText",
        [held = state(), audio, text, sets, threads, abort = std::move(abort)] {
          return held->model->align_text(audio->window, text, sets, threads, abort.flag());
        },
        [audio](Napi::Env e, const TextAlignment& alignment) {
          return to_js(e, alignment, audio->window.time_line());
        });
  });
}

}  // namespace verbatim::addon
