#include "speech/whisper_cpp/model.h"

#include <whisper.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "accelerator/accelerator.h"
#include "backend_devices.h"
#include "device.h"
#include "error.h"
#include "speech/model_file.h"
#include "speech/model_source.h"
#include "speech/whisper/model/alignment_heads.h"
#include "speech/whisper_cpp/slot.h"
#include "speech/whisper_cpp/whisper_state.h"
#include "speech/whisper_log.h"
#include "speech/window_bounds.h"

namespace verbatim {
namespace {

ModelFileInfo check(std::ifstream& stream, const std::filesystem::path& path) {
  try {
    return check_model_file(stream);
  } catch (const EngineError& error) {
    throw EngineError(error.code(), path.filename().string() + ": " + error.what());
  }
}

// The encoder's blocks (4 + 8 square matrices each) and the decoder's projections of the encoder's output.
std::uint64_t packed_weight_bytes(const ModelShape& shape, const accelerator::WeightStore* store) {
  const auto state = static_cast<std::uint64_t>(shape.audio_state);
  const auto matrices = static_cast<std::uint64_t>(12 * shape.audio_layers + 2 * shape.text_layers);
  return matrices * state * state * accelerator::operand_size(store);
}

// Whether the accelerator computes with this model's weights. Determined with a state like those of its slots.
bool accelerates(whisper_context* context, const std::shared_ptr<accelerator::WeightStore>& store) {
  if (!store) return false;
  take_whisper_error();
  const accelerator::StateScope scope(store);
  const std::unique_lock lock = lock_whisper_start();
  const StatePointer state(whisper_init_state(context));
  if (!state) throw EngineError(ErrorCode::kOutOfMemory, "no memory for a slot: " + take_whisper_error());
  return scope.took_weights();
}

// The token list, and everything else before the first tensor's values.
std::vector<std::byte> read_token_list(std::ifstream& stream, const ModelFileInfo& file) {
  std::uint64_t end = std::numeric_limits<std::uint64_t>::max();
  for (const auto& [name, tensor] : file.tensors) end = std::min(end, tensor.offset);
  std::vector<std::byte> list(end - file.vocabulary_offset);
  stream.clear();
  stream.seekg(static_cast<std::streamoff>(file.vocabulary_offset));
  stream.read(reinterpret_cast<char*>(list.data()), static_cast<std::streamsize>(list.size()));
  if (!stream) throw EngineError(ErrorCode::kIoError, "the model file cannot be read");
  return list;
}

}  // namespace

void SpeechModel::ContextDeleter::operator()(whisper_context* context) const noexcept { whisper_free(context); }

SpeechModel::~SpeechModel() = default;

double SpeechModel::longest_window_seconds() const noexcept {
  return static_cast<double>(kLongestWindow) / kSampleRate;
}

std::unique_ptr<WindowSlot> SpeechModel::make_slot(int threads) const {
  return std::make_unique<Slot>(shared_from_this(), threads);
}

std::shared_ptr<const SpeechModel> SpeechModel::load(const std::filesystem::path& path, std::string_view device,
                                                     AcceleratorMode accelerator,
                                                     std::vector<transformer::AttentionHead> heads,
                                                     SpeechExecutor word_executor) {
  capture_whisper_log();
  const DeviceInfo target = find_device(device);
  std::ifstream stream = open_model_file(path);
  const ModelFileInfo file = check(stream, path);
  const std::optional<int> gpu = backend_device(target.id).gpu_number;
  open_backend_device(target.id, false);
  auto model = std::make_shared<SpeechModel>(Private{});
  model->path_ = path;
  model->accelerator_ = accelerator;
  model->alignment_heads_ = whisper::alignment_heads(file.shape, std::move(heads));
  model->word_executor_ = word_executor;
  model->mel_extractor_ = std::make_unique<whisper::MelExtractor>(file.mel_filters, file.shape.mels);
  model->vocabulary_ = std::make_unique<whisper::Vocabulary>(read_token_list(stream, file), file.shape.vocabulary);
  auto store = gpu ? nullptr : accelerator::make_weight_store(accelerator);
  check_room(target, file.weight_bytes + packed_weight_bytes(file.shape, store.get()));

  whisper_context_params params = whisper_context_default_params();
  params.use_gpu = gpu.has_value();
  params.gpu_device = gpu.value_or(0);
  auto loader = loader_of<whisper_model_loader>(stream);
  take_whisper_error();
  const accelerator::LoadScope scope(store.get());
  model->context_.reset(whisper_init_with_params_no_state(&loader, params));
  if (!model->context_) {
    throw EngineError(ErrorCode::kInvalidModel,
                      path.filename().string() + ": whisper.cpp refused the model: " + take_whisper_error());
  }
  if (accelerates(model->context_.get(), store)) model->packed_weights_ = std::move(store);
  const accelerator::WeightStore* const used = model->packed_weights_.get();
  model->info_ = describe_model(file, target);
  model->info_.accelerator = accelerator::name(used);
  model->info_.memory_bytes += packed_weight_bytes(file.shape, used);
  return model;
}

const whisper::LoadedModel& SpeechModel::word_model() const {
  const std::lock_guard lock(word_mutex_);
  if (!word_model_) {
    word_model_ =
        whisper::LoadedModel::load(path_, info_.device, accelerator_, "auto", alignment_heads_, word_executor_, {});
    word_bytes_ = word_model_->bytes() + word_model_->model()->info().memory_bytes;
  }
  return *word_model_;
}

std::size_t SpeechModel::memory_bytes() const noexcept {
  return static_cast<std::size_t>(info_.memory_bytes) + word_bytes_.load(std::memory_order_relaxed);
}

}  // namespace verbatim
