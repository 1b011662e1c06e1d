#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string_view>

#include "speech/parakeet/model_tensors.h"
#include "speech/slot_model.h"

struct parakeet_context;

namespace verbatim::parakeet {

// Parakeet TDT on whisper.cpp.
class Model final : public SlotModel, public std::enable_shared_from_this<Model> {
  struct Private {};

 public:
  // Arguments and errors as in load_slot_model().
  static std::shared_ptr<const Model> load(const std::filesystem::path& path, std::string_view device);
  // Called by load() only.
  explicit Model(Private) {}
  ~Model() override;

  const SpeechModelInfo& info() const noexcept override { return info_; }
  double longest_window_seconds() const noexcept override;
  std::size_t memory_bytes() const noexcept override { return info_.memory_bytes; }
  std::unique_ptr<WindowSlot> make_slot(int threads) const override;

  // For slots only.
  const ModelShape& shape() const noexcept { return shape_; }
  // For slots only.
  parakeet_context* context() const noexcept { return context_.get(); }

 private:
  struct ContextDeleter {
    void operator()(parakeet_context* context) const noexcept;
  };
  ModelShape shape_;
  SpeechModelInfo info_;
  std::unique_ptr<parakeet_context, ContextDeleter> context_;
};

}  // namespace verbatim::parakeet
