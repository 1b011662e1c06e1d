#include "speech/silero/model.h"

#include <whisper.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string_view>
#include <utility>

#include "device.h"
#include "error.h"
#include "speech/model_file.h"
#include "speech/model_stream.h"
#include "speech/silero/model_file.h"
#include "speech/whisper_log.h"

namespace verbatim {
namespace {

// The published model has some 0.9 MB; a larger file is refused unread.
constexpr std::size_t kLargestFile = 8 << 20;

std::string file_bytes(const std::filesystem::path& path) {
  require_model_file(path);
  if (std::filesystem::file_size(path) > kLargestFile) {
    refuse_model("not a Silero model: the file is larger than " + std::to_string(kLargestFile >> 20) + " MiB");
  }
  std::ifstream stream(path, std::ios::binary);
  if (!stream) throw EngineError(ErrorCode::kIoError, "cannot open the model file " + path.string());
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

std::string checked_bytes(const std::filesystem::path& path) {
  try {
    std::string bytes = file_bytes(path);
    std::istringstream stream(bytes);
    silero::check_model_file(stream);
    return bytes;
  } catch (const EngineError& error) {
    throw EngineError(error.code(), path.filename().string() + ": " + error.what());
  }
}

// The bytes left to read, and whether more was requested.
struct Source {
  std::string_view left;
  bool ended = false;
};

whisper_model_loader loader_of(Source& source) {
  whisper_model_loader loader{};
  loader.context = &source;
  loader.read = [](void* context, void* target, std::size_t size) {
    auto& from = *static_cast<Source*>(context);
    const std::size_t count = std::min(size, from.left.size());
    std::memcpy(target, from.left.data(), count);
    from.left.remove_prefix(count);
    if (count < size) from.ended = true;
    return count;
  };
  loader.eof = [](void* context) { return static_cast<Source*>(context)->ended; };
  loader.close = [](void* /*context*/) {};
  return loader;
}

}  // namespace

void SileroModel::ContextDeleter::operator()(whisper_vad_context* context) const noexcept { whisper_vad_free(context); }

class SileroModel::Stream final : public VoiceActivityStream {
 public:
  Stream(std::shared_ptr<const SileroModel> model, ContextPointer context)
      : model_(std::move(model)), context_(std::move(context)) {
    whisper_vad_reset_state(context_.get());
  }
  ~Stream() override { model_->release(std::move(context_)); }

  void probabilities(std::span<const float> samples, std::span<float> out) override {
    if (samples.size() != out.size() * kFrameSamples) {
      throw EngineError(ErrorCode::kInternalError, "voice activity takes whole frames");
    }
    if (out.empty()) return;
    take_whisper_error();
    // The stream gives up the context while it computes. If that fails, the context is in an unknown state and is not
    // used again.
    ContextPointer context = std::move(context_);
    const bool good =
        context && whisper_vad_detect_speech_no_reset(context.get(), samples.data(), static_cast<int>(samples.size()));
    const std::string error = take_whisper_error();
    if (!good || !error.empty()) {
      throw EngineError(ErrorCode::kInternalError, "whisper.cpp failed at voice activity: " + error);
    }
    std::copy_n(whisper_vad_probs(context.get()), out.size(), out.begin());
    context_ = std::move(context);
  }

 private:
  const std::shared_ptr<const SileroModel> model_;
  ContextPointer context_;
};

std::shared_ptr<const SileroModel> SileroModel::load(const std::filesystem::path& path) {
  capture_whisper_log();
  // Registers the available backends before whisper.cpp looks for them.
  static_cast<void>(list_devices());
  auto model = std::make_shared<SileroModel>(Private{}, checked_bytes(path));
  model->idle_.push_back(model->make_context());
  return model;
}

SileroModel::SileroModel(Private /*unused*/, std::string bytes) : bytes_(std::move(bytes)) { idle_.reserve(kMostIdle); }
SileroModel::~SileroModel() = default;

SileroModel::ContextPointer SileroModel::make_context() const {
  whisper_vad_context_params params = whisper_vad_default_context_params();
  params.n_threads = 1;
  params.use_gpu = false;
  Source source{.left = bytes_};
  whisper_model_loader loader = loader_of(source);
  take_whisper_error();
  const std::unique_lock lock = lock_whisper_start();
  ContextPointer context(whisper_vad_init_with_params(&loader, params));
  if (!context) {
    throw EngineError(ErrorCode::kInvalidModel, "whisper.cpp refused the model: " + take_whisper_error());
  }
  return context;
}

SileroModel::ContextPointer SileroModel::take_context() const {
  {
    const std::lock_guard lock(mutex_);
    ++used_;
    if (!idle_.empty()) {
      ContextPointer context = std::move(idle_.back());
      idle_.pop_back();
      return context;
    }
  }
  try {
    return make_context();
  } catch (...) {
    release(nullptr);
    throw;
  }
}

void SileroModel::release(ContextPointer context) const noexcept {
  const std::lock_guard lock(mutex_);
  --used_;
  if (context && idle_.size() < kMostIdle) idle_.push_back(std::move(context));
}

std::unique_ptr<VoiceActivityStream> SileroModel::open() const {
  return std::make_unique<Stream>(shared_from_this(), take_context());
}

std::size_t SileroModel::contexts() const {
  const std::lock_guard lock(mutex_);
  return used_ + idle_.size();
}

std::uint64_t SileroModel::memory_bytes() const { return bytes_.size() * (1 + contexts()); }

}  // namespace verbatim
