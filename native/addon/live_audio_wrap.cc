#include "live_audio_wrap.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "lease.h"
#include "option_reader.h"
#include "promise_work.h"

namespace verbatim::addon {
namespace {

using Kind = LiveEvent::Kind;

SampleFormat sample_format(const OptionReader& reader) {
  SampleFormat format;
  reader.required("encoding", format.encoding,
                  {{"s16le", SampleEncoding::kInt16},
                   {"f32le", SampleEncoding::kFloat32},
                   {"mulaw", SampleEncoding::kMuLaw},
                   {"alaw", SampleEncoding::kALaw}});
  reader.required("sampleRate", format.sample_rate);
  reader.required("channels", format.channels);
  return format;
}

void read_live_options(const OptionReader& reader, LiveOptions& out) {
  reader.optional("threshold", out.threshold);
  reader.optional("prefixPaddingMs", out.prefix_padding_ms);
  reader.optional("silenceMs", out.silence_ms);
  reader.optional("pauseMs", out.pause_ms);
  reader.optional("detect", out.detect);
  reader.optional("longestSeconds", out.longest_seconds);
  reader.optional("searchSeconds", out.search_seconds);
}

// Null if the options name none.
std::shared_ptr<HeldVoiceActivityModel> voice_of(Napi::Value options) {
  const Napi::Value voice = options.As<Napi::Object>().Get("voice");
  if (voice.IsUndefined()) return nullptr;
  return VoiceActivityModelWrap::from_js(voice, "options.voice")->state();
}

const char* name_of(Kind kind) {
  switch (kind) {
    case Kind::kSpeechStarted:
      return "speech_started";
    case Kind::kPause:
      return "pause";
    case Kind::kCut:
      return "cut";
    case Kind::kSpeechStopped:
      return "speech_stopped";
  }
  return "";
}

// LiveEvent[] of the contract.
Napi::Array to_js(Napi::Env env, const LiveEvents& events) {
  Napi::Array out = Napi::Array::New(env, events.size());
  for (std::uint32_t i = 0; i < events.size(); ++i) {
    const LiveEvent& event = events[i];
    Napi::Object entry = Napi::Object::New(env);
    entry.Set("type", name_of(event.kind));
    entry.Set("at", static_cast<double>(event.at));
    if (event.kind == Kind::kPause || event.kind == Kind::kSpeechStopped) {
      entry.Set("speechEnd", static_cast<double>(event.speech_end));
    }
    out.Set(i, entry);
  }
  return out;
}

std::span<const std::byte> bytes_argument(Napi::Value value) {
  if (!value.IsTypedArray() || value.As<Napi::TypedArray>().TypedArrayType() != napi_uint8_array) {
    throw argument_error(value.Env(), "bytes must be a Uint8Array.");
  }
  const auto bytes = value.As<Napi::Uint8Array>();
  return {reinterpret_cast<const std::byte*>(bytes.Data()), bytes.ByteLength()};
}

}  // namespace

void LiveAudioWrap::Progress::update(OpenLiveAudio& live) {
  position = static_cast<double>(live.audio.position());
  utterance_begin = live.audio.utterance_begin();
  kept_from = static_cast<double>(live.audio.kept_from());
  const std::size_t bytes = live.audio.memory_bytes();
  memory_bytes = static_cast<double>(bytes);
  live.memory.resize(bytes);
}

std::vector<LiveAudioWrap::PropertyDescriptor> LiveAudioWrap::members() {
  return {InstanceMethod<&LiveAudioWrap::push>("push"),
          InstanceMethod<&LiveAudioWrap::push_now>("pushNow"),
          InstanceMethod<&LiveAudioWrap::end_utterance>("endUtterance"),
          InstanceMethod<&LiveAudioWrap::clear>("clear"),
          InstanceMethod<&LiveAudioWrap::configure>("configure"),
          InstanceMethod<&LiveAudioWrap::samples>("samples"),
          InstanceMethod<&LiveAudioWrap::discard_before>("discardBefore"),
          InstanceAccessor<&LiveAudioWrap::position>("position"),
          InstanceAccessor<&LiveAudioWrap::utterance_begin>("utteranceBegin"),
          InstanceAccessor<&LiveAudioWrap::kept_from>("keptFrom"),
          InstanceAccessor<&LiveAudioWrap::memory_bytes>("memoryBytes"),
          closing_method("close")};
}

LiveAudioWrap::LiveAudioWrap(const Napi::CallbackInfo& info) : Handle(info) { progress_->update(*state()); }

Napi::Value LiveAudioWrap::open(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  return value_from(env, [&] {
    const OptionReader reader(info[0], "options");
    const SampleFormat format = sample_format(reader);
    LiveOptions options;
    read_live_options(reader, options);
    return wrap(env, std::make_shared<OpenLiveAudio>(env, format, options, voice_of(info[0])));
  });
}

Napi::Value LiveAudioWrap::push(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  return promise_from(env, [&] {
    // A copy: the caller may change its bytes while they are worked on.
    const std::span<const std::byte> given = bytes_argument(info[0]);
    std::vector<std::byte> bytes(given.begin(), given.end());
    return run_on_worker(
        env, "verbatim.pushLiveAudio",
        [live = Lease(state()), bytes = std::move(bytes)] { return live->audio.push(bytes); },
        [live = state(), progress = progress_](Napi::Env e, const LiveEvents& events) -> Napi::Value {
          progress->update(*live);
          return to_js(e, events);
        });
  });
}

Napi::Value LiveAudioWrap::push_now(const Napi::CallbackInfo& info) {
  return value_from(info.Env(), [&] {
    const Lease live(state());
    const LiveEvents events = live->audio.push(bytes_argument(info[0]));
    progress_->update(*live);
    return to_js(info.Env(), events);
  });
}

Napi::Value LiveAudioWrap::end_utterance(const Napi::CallbackInfo& info) {
  return value_from(info.Env(), [&] {
    const Lease live(state());
    const LiveEvents events = live->audio.end_utterance();
    progress_->update(*live);
    return to_js(info.Env(), events);
  });
}

Napi::Value LiveAudioWrap::clear(const Napi::CallbackInfo& info) {
  return value_from(info.Env(), [&] {
    const Lease live(state());
    live->audio.clear();
    progress_->update(*live);
    return info.Env().Undefined();
  });
}

Napi::Value LiveAudioWrap::configure(const Napi::CallbackInfo& info) {
  return value_from(info.Env(), [&] {
    const Lease live(state());
    LiveOptions options = live->options;
    read_live_options(OptionReader(info[0], "options"), options);
    live->audio.configure(options);
    live->options = options;
    progress_->update(*live);
    return info.Env().Undefined();
  });
}

Napi::Value LiveAudioWrap::samples(const Napi::CallbackInfo& info) {
  return value_from(info.Env(), [&] {
    const Lease live(state());
    const std::vector<float> kept =
        live->audio.samples(sample_position(info[0], "begin"), sample_position(info[1], "end"));
    Napi::Float32Array out = Napi::Float32Array::New(info.Env(), kept.size());
    std::copy(kept.begin(), kept.end(), out.Data());
    return out;
  });
}

Napi::Value LiveAudioWrap::discard_before(const Napi::CallbackInfo& info) {
  return value_from(info.Env(), [&] {
    const Lease live(state());
    live->audio.discard_before(sample_position(info[0], "position"));
    progress_->update(*live);
    return info.Env().Undefined();
  });
}

Napi::Value LiveAudioWrap::position(const Napi::CallbackInfo& info) {
  return Napi::Number::New(info.Env(), progress_->position);
}

Napi::Value LiveAudioWrap::utterance_begin(const Napi::CallbackInfo& info) {
  if (!progress_->utterance_begin) return info.Env().Null();
  return Napi::Number::New(info.Env(), static_cast<double>(*progress_->utterance_begin));
}

Napi::Value LiveAudioWrap::kept_from(const Napi::CallbackInfo& info) {
  return Napi::Number::New(info.Env(), progress_->kept_from);
}

Napi::Value LiveAudioWrap::memory_bytes(const Napi::CallbackInfo& info) {
  return Napi::Number::New(info.Env(), progress_->memory_bytes);
}

}  // namespace verbatim::addon
