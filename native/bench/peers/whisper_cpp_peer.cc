#include <atomic>
#include <future>

#include "peer.h"
#include "speech/load_slot_model.h"

namespace verbatim::bench {
namespace {

class WhisperCppPeer : public Peer {
 public:
  WhisperCppPeer(const std::filesystem::path& path, const Layout& layout)
      : model_(load_slot_model(path, "cpu", AcceleratorMode::kOff)) {
    for (int i = 0; i < layout.workers; ++i) slots_.push_back(model_->make_slot(layout.threads));
  }

  std::string name() const override { return "whisper.cpp " + model_->info().weight_type; }

  Texts transcribe(const Windows& windows) override {
    Texts texts(windows.size());
    std::atomic<std::size_t> next{0};
    std::vector<std::future<void>> workers;
    for (const auto& slot : slots_) {
      workers.push_back(std::async(std::launch::async, [&] {
        for (std::size_t i = next++; i < windows.size(); i = next++)
          texts[i] = text_tokens(slot->transcribe(*windows[i], plain_english(), nullptr));
      }));
    }
    for (auto& worker : workers) worker.wait();
    for (auto& worker : workers) worker.get();
    return texts;
  }

 private:
  std::shared_ptr<const SlotModel> model_;
  std::vector<std::unique_ptr<WindowSlot>> slots_;
};

}  // namespace

std::unique_ptr<Peer> whisper_cpp_peer(const std::filesystem::path& model, const Layout& layout) {
  return std::make_unique<WhisperCppPeer>(model, layout);
}

}  // namespace verbatim::bench
