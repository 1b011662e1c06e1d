#include "sample_reader_wrap.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "audio/sample_rate.h"
#include "lease.h"
#include "option_reader.h"
#include "promise_work.h"

namespace verbatim::addon {
namespace {

// Most audio of one call: some tens of milliseconds of decoding.
constexpr int kMostSeconds = 10;
constexpr int kMostSamples = kMostSeconds * kSampleRate;

std::size_t count_argument(Napi::Value value) {
  const double count = value.IsNumber() ? value.As<Napi::Number>().DoubleValue() : 0.0;
  if (count >= 1 && count <= kMostSamples && count == static_cast<double>(static_cast<int>(count)))
    return static_cast<std::size_t>(count);
  throw argument_error(value.Env(), "count must be an integer from 1 to " + std::to_string(kMostSamples) + ".");
}

std::vector<float> read_block(AudioReader& reader, std::size_t count) {
  std::vector<float> block(count);
  block.resize(reader.read(block));
  return block;
}

}  // namespace

std::vector<SampleReaderWrap::PropertyDescriptor> SampleReaderWrap::members() {
  return {InstanceMethod<&SampleReaderWrap::read>("read"), closing_method("close")};
}

Napi::Value SampleReaderWrap::open(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  return promise_from(env, [&] {
    return run_on_worker(
        env, "verbatim.openSamples", [path = path_argument(info[0])] { return std::make_unique<OpenSamples>(path); },
        [](Napi::Env e, std::unique_ptr<OpenSamples> samples) { return wrap(e, std::move(samples)); });
  });
}

Napi::Value SampleReaderWrap::read(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  return promise_from(env, [&] {
    const std::size_t count = count_argument(info[0]);
    return run_on_worker(
        env, "verbatim.readSamples", [samples = Lease(state()), count] { return read_block(samples->reader, count); },
        [](Napi::Env e, const std::vector<float>& block) -> Napi::Value {
          Napi::Float32Array out = Napi::Float32Array::New(e, block.size());
          std::copy(block.begin(), block.end(), out.Data());
          return out;
        });
  });
}

}  // namespace verbatim::addon
