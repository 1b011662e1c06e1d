#include "speech/silero/model.h"

#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <utility>

#include "error.h"
#include "speech/model_file.h"
#include "speech/model_stream.h"
#include "speech/silero/model_file.h"

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

silero::Network read_network(const std::filesystem::path& path) {
  try {
    const std::string bytes = file_bytes(path);
    std::istringstream stream(bytes);
    return {bytes, silero::check_model_file(stream)};
  } catch (const EngineError& error) {
    throw EngineError(error.code(), path.filename().string() + ": " + error.what());
  }
}

}  // namespace

class SileroModel::Stream final : public VoiceActivityStream {
 public:
  explicit Stream(std::shared_ptr<const SileroModel> model) : model_(std::move(model)) {}

  void probabilities(std::span<const float> samples, std::span<float> out) override {
    if (samples.size() != out.size() * kFrameSamples) {
      throw EngineError(ErrorCode::kInternalError, "voice activity takes whole frames");
    }
    for (float& probability : out) {
      probability = model_->network_.probability(samples.first<silero::Network::kFrame>(), state_);
      samples = samples.subspan(silero::Network::kFrame);
    }
  }

 private:
  const std::shared_ptr<const SileroModel> model_;
  silero::Network::State state_;
};

std::shared_ptr<const SileroModel> SileroModel::load(const std::filesystem::path& path) {
  return std::make_shared<SileroModel>(Private{}, read_network(path));
}

SileroModel::SileroModel(Private /*unused*/, silero::Network network) : network_(std::move(network)) {}

std::unique_ptr<VoiceActivityStream> SileroModel::open() const { return std::make_unique<Stream>(shared_from_this()); }

}  // namespace verbatim
