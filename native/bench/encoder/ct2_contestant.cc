// CTranslate2's encoder, in builds with CTranslate2 only.
#ifdef VERBATIM_CTRANSLATE2
#include <ctranslate2/models/whisper.h>
#include <ctranslate2/utils.h>

#include "contestant.h"

namespace verbatim::bench {
namespace {

class Ct2Contestant : public Contestant {
 public:
  Ct2Contestant(const std::filesystem::path& directory, const std::string& compute_type, const MelWindow& window)
      : compute_type_(compute_type),
        replica_(std::static_pointer_cast<const ctranslate2::models::WhisperModel>(ctranslate2::models::Model::load(
            directory.string(), ctranslate2::Device::CPU, 0, ctranslate2::str_to_compute_type(compute_type)))),
        features_({1, window.mels, window.frames}, window.values) {}

  std::string name() const override { return "CTranslate2 " + compute_type_; }

  void encode(int threads) override {
    ctranslate2::set_num_threads(static_cast<std::size_t>(threads));
    encoded_ = std::make_unique<ctranslate2::StorageView>(replica_.encode(features_, true));
  }

  std::vector<float> output() override {
    encode(2);
    return encoded_->to(ctranslate2::DataType::FLOAT32).to_vector<float>();
  }

 private:
  std::string compute_type_;
  ctranslate2::models::WhisperReplica replica_;
  ctranslate2::StorageView features_;
  std::unique_ptr<ctranslate2::StorageView> encoded_;
};

}  // namespace

std::unique_ptr<Contestant> ct2_contestant(const std::filesystem::path& directory, const std::string& compute_type,
                                           const MelWindow& window) {
  return std::make_unique<Ct2Contestant>(directory, compute_type, window);
}

}  // namespace verbatim::bench
#endif
