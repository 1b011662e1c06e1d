#include "peer.h"
#include "speech/load_recogniser.h"
#include "testing/window_runner.h"

namespace verbatim::bench {
namespace {

class OwnPeer : public Peer {
 public:
  OwnPeer(const std::filesystem::path& model, const std::string& compute, const Layout& layout)
      : recogniser_(load_recogniser(model, "cpu", AcceleratorMode::kAuto, compute)),
        name_("ours, " + compute + ", " + recogniser_->info().weight_type),
        runner_(*recogniser_, {.lanes = layout.workers, .threads = layout.threads}) {}

  std::string name() const override { return name_; }

  Texts transcribe(const Windows& windows) override {
    std::vector<std::shared_ptr<WindowInFlight>> in_flight;
    for (const auto& window : windows) in_flight.push_back(runner_.start(window, plain_english()));
    Texts texts;
    for (const auto& window : in_flight) texts.push_back(text_tokens(runner_.finish(*window)));
    return texts;
  }

 private:
  std::shared_ptr<const Recogniser> recogniser_;
  std::string name_;
  test::WindowRunner runner_;
};

}  // namespace

std::unique_ptr<Peer> own_peer(const std::filesystem::path& model, const std::string& compute, const Layout& layout) {
  return std::make_unique<OwnPeer>(model, compute, layout);
}

}  // namespace verbatim::bench
