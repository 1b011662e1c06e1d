#include <ctranslate2/models/whisper.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <future>

#include "peer.h"
#include "speech/model_file.h"
#include "speech/whisper/encoder/mel.h"
#include "speech/whisper/model/special_tokens.h"

namespace verbatim::bench {
namespace {

namespace ct2 = ctranslate2;

// A window of 30 s.
constexpr int kFrames = 3000;

ModelFileInfo info_of(const std::filesystem::path& model) {
  std::ifstream file(model, std::ios::binary);
  return check_model_file(file);
}

ct2::models::ModelLoader loader_of(const std::filesystem::path& directory, const std::string& compute, int replicas) {
  ct2::models::ModelLoader loader(directory.string());
  loader.compute_type = ct2::str_to_compute_type(compute);
  loader.num_replicas_per_device = static_cast<std::size_t>(replicas);
  return loader;
}

class Ct2Peer : public Peer {
 public:
  Ct2Peer(const std::filesystem::path& directory, const std::string& compute, const ModelFileInfo& model,
          const Layout& layout)
      : name_("CTranslate2 " + compute),
        extractor_(model.mel_filters, model.shape.mels),
        mels_(model.shape.mels),
        special_(whisper::special_tokens(model.shape.vocabulary)),
        workers_(static_cast<std::size_t>(layout.workers)),
        threads_(static_cast<std::size_t>(layout.workers * layout.threads)),
        pool_(loader_of(directory, compute, layout.workers),
              {.num_threads_per_replica = static_cast<std::size_t>(layout.threads)}) {}

  std::string name() const override { return name_; }

  Texts transcribe(const Windows& windows) override {
    const std::vector<float> values = features(windows);
    const std::size_t share = (windows.size() + workers_ - 1) / workers_;
    Results results;
    for (std::size_t first = 0; first < windows.size(); first += share) {
      const std::size_t count = std::min(share, windows.size() - first);
      const auto* const begin = values.data() + first * window_size();
      for (auto& result : generate({begin, begin + count * window_size()}, count)) results.push_back(std::move(result));
    }
    Texts texts;
    for (auto& result : results) texts.push_back(text_of(result.get().sequences_ids.at(0)));
    return texts;
  }

 private:
  using Results = std::vector<std::future<ct2::models::WhisperGenerationResult>>;

  std::size_t window_size() const { return static_cast<std::size_t>(mels_) * kFrames; }

  // Of all windows, one behind another, computed on as many threads as the replicas have together.
  std::vector<float> features(const Windows& windows) const {
    std::vector<float> values(windows.size() * window_size());
    std::atomic<std::size_t> next{0};
    std::vector<std::future<void>> tasks;
    for (std::size_t i = 0; i < threads_; ++i) {
      tasks.push_back(std::async(std::launch::async, [&] {
        for (std::size_t window = next++; window < windows.size(); window = next++)
          extractor_.spectrogram(windows[window]->samples).copy(0, kFrames, values.data() + window * window_size());
      }));
    }
    for (auto& task : tasks) task.wait();
    for (auto& task : tasks) task.get();
    return values;
  }

  Results generate(const std::vector<float>& values, std::size_t windows) {
    ct2::models::WhisperOptions options;
    options.beam_size = 1;
    const ct2::StorageView features({static_cast<ct2::dim_t>(windows), mels_, kFrames}, values);
    return pool_.generate(features, std::vector(windows, prompt()), options);
  }

  // Without time stamps: the default of faster-whisper's batches.
  std::vector<std::size_t> prompt() const {
    std::vector<std::size_t> ids;
    for (const auto id :
         {special_.start_of_transcript, special_.language(0), special_.transcribe, special_.no_time_stamps}) {
      ids.push_back(static_cast<std::size_t>(id));
    }
    return ids;
  }

  std::vector<transformer::TokenId> text_of(const std::vector<std::size_t>& ids) const {
    std::vector<transformer::TokenId> text;
    for (const std::size_t id : ids) {
      if (special_.is_text(static_cast<transformer::TokenId>(id))) text.push_back(static_cast<int>(id));
    }
    return text;
  }

  std::string name_;
  whisper::MelExtractor extractor_;
  int mels_;
  whisper::SpecialTokens special_;
  std::size_t workers_;
  std::size_t threads_;
  ct2::models::Whisper pool_;
};

}  // namespace

std::unique_ptr<Peer> ct2_peer(const std::filesystem::path& directory, const std::string& compute,
                               const std::filesystem::path& model, const Layout& layout) {
  return std::make_unique<Ct2Peer>(directory, compute, info_of(model), layout);
}

}  // namespace verbatim::bench
