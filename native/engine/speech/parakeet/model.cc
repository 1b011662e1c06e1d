#include "speech/parakeet/model.h"

#include <parakeet.h>

#include <fstream>
#include <optional>
#include <string>

#include "backend_devices.h"
#include "device.h"
#include "error.h"
#include "speech/model_source.h"
#include "speech/parakeet/describe.h"
#include "speech/parakeet/model_file.h"
#include "speech/parakeet/slot.h"
#include "speech/whisper_log.h"

namespace verbatim::parakeet {
namespace {

ModelFileInfo check(std::ifstream& stream, const std::filesystem::path& path) {
  try {
    return check_model_file(stream);
  } catch (const EngineError& error) {
    throw EngineError(error.code(), path.filename().string() + ": " + error.what());
  }
}

}  // namespace

void Model::ContextDeleter::operator()(parakeet_context* context) const noexcept { parakeet_free(context); }

Model::~Model() = default;

std::shared_ptr<const Model> Model::load(const std::filesystem::path& path, std::string_view device) {
  capture_whisper_log();
  const DeviceInfo target = find_device(device);
  std::ifstream stream = open_model_file(path);
  const ModelFileInfo file = check(stream, path);
  check_room(target, file.weight_bytes);

  const std::optional<int> gpu = backend_device(target.id).gpu_number;
  open_backend_device(target.id, false);
  parakeet_context_params params = parakeet_context_default_params();
  params.use_gpu = gpu.has_value();
  params.gpu_device = gpu.value_or(0);
  auto loader = loader_of<parakeet_model_loader>(stream);
  auto model = std::make_shared<Model>(Private{});
  take_whisper_error();
  model->context_.reset(parakeet_init_with_params_no_state(&loader, params));
  if (!model->context_) {
    throw EngineError(ErrorCode::kInvalidModel,
                      path.filename().string() + ": whisper.cpp refused the model: " + take_whisper_error());
  }
  model->shape_ = file.shape;
  model->info_ = describe(file, target);
  return model;
}

double Model::longest_window_seconds() const noexcept { return parakeet::longest_window_seconds(shape_); }

std::unique_ptr<WindowSlot> Model::make_slot(int threads) const {
  return std::make_unique<Slot>(shared_from_this(), threads);
}

}  // namespace verbatim::parakeet
