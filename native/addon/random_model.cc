#include "random_model.h"

#include <cstdint>
#include <filesystem>
#include <ios>
#include <string>

#include "error.h"
#include "option_reader.h"
#include "promise_work.h"
#include "speech/random_models/random_whisper_model.h"

namespace verbatim::addon {
namespace {

constexpr std::uint32_t kSeed = 1;

// RandomModelOptions of the contract.
struct RandomModelOptions {
  ModelShape shape;
  int text_tokens = 0;
};

RandomModelOptions random_model_options(Napi::Value value) {
  const OptionReader options(value, "options");
  std::string shape;
  std::string weights;
  options.required("shape", shape);
  options.required("weights", weights);
  RandomModelOptions out{.shape = random_models::published_shape(shape, weights)};
  options.required("textTokens", out.text_tokens);
  const int most = out.shape.audio_layers;
  options.optional("audioLayers", out.shape.audio_layers);
  if (out.shape.audio_layers < 1 || out.shape.audio_layers > most) {
    throw EngineError(ErrorCode::kInvalidArgument, "options.audioLayers is " + std::to_string(out.shape.audio_layers) +
                                                       "; allowed: 1 to " + std::to_string(most));
  }
  return out;
}

void write_model(const std::filesystem::path& path, const RandomModelOptions& options) {
  try {
    random_models::write_random_model(options.shape, kSeed, path, options.text_tokens);
  } catch (const std::ios_base::failure&) {
    throw EngineError(ErrorCode::kIoError, path.string() + " cannot be written");
  }
}

}  // namespace

Napi::Value write_random_model(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  return promise_from(env, [&] {
    const std::filesystem::path path = path_argument(info[0]);
    const RandomModelOptions options = random_model_options(info[1]);
    return run_on_worker(
        env, "verbatim.writeRandomModel",
        [path, options] {
          write_model(path, options);
          return true;
        },
        [](Napi::Env e, bool) { return e.Undefined(); });
  });
}

}  // namespace verbatim::addon
