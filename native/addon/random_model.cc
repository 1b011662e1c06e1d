#include "random_model.h"

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
  std::string shape;
  std::string weights;
  // 0: as many as the published model has.
  int audio_layers = 0;
  int text_tokens = 0;
};

RandomModelOptions random_model_options(Napi::Value value) {
  RandomModelOptions out;
  const OptionReader options(value, "options");
  options.required("shape", out.shape);
  options.required("weights", out.weights);
  options.required("textTokens", out.text_tokens);
  options.optional("audioLayers", out.audio_layers);
  return out;
}

void write_model(const std::filesystem::path& path, const RandomModelOptions& options) {
  ModelShape shape = random_models::published_shape(options.shape, options.weights);
  if (options.audio_layers < 0 || options.audio_layers > shape.audio_layers) {
    throw EngineError(ErrorCode::kInvalidArgument, "options.audioLayers is " + std::to_string(options.audio_layers) +
                                                       "; allowed: 1 to " + std::to_string(shape.audio_layers));
  }
  if (options.audio_layers > 0) shape.audio_layers = options.audio_layers;
  try {
    random_models::write_random_model(shape, kSeed, path, options.text_tokens);
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
