#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "audio/cutting/voice_activity_model.h"

struct whisper_vad_context;

namespace verbatim {

// Silero VAD through whisper.cpp's interface, on the CPU, single-threaded on the calling thread. A whisper.cpp context
// holds the weights and the state of one signal. A stream takes an idle context from a pool, or makes one, and returns
// it at its end. As many contexts exist as streams were open at once; few are kept idle.
class SileroModel final : public VoiceActivityModel, public std::enable_shared_from_this<SileroModel> {
  struct Private {};

 public:
  // Most idle contexts. As many files are cut at once, so that a busy service makes none.
  static constexpr std::size_t kMostIdle = 3;

  // Throws EngineError kInvalidModel, kIoError, kOutOfMemory.
  static std::shared_ptr<const SileroModel> load(const std::filesystem::path& path);

  SileroModel(Private, std::string bytes);
  ~SileroModel() override;

  std::unique_ptr<VoiceActivityStream> open() const override;

  // Contexts in use and idle.
  std::size_t contexts() const;
  // Bytes of the weights, in the file's copy and in every context.
  std::uint64_t memory_bytes() const;

 private:
  struct ContextDeleter {
    void operator()(whisper_vad_context* context) const noexcept;
  };
  using ContextPointer = std::unique_ptr<whisper_vad_context, ContextDeleter>;
  class Stream;

  ContextPointer make_context() const;
  ContextPointer take_context() const;
  // Returns a context to the pool; null if it was lost.
  void release(ContextPointer context) const noexcept;

  // The file's bytes as they were checked.
  const std::string bytes_;
  mutable std::mutex mutex_;
  mutable std::vector<ContextPointer> idle_;
  mutable std::size_t used_ = 0;
};

}  // namespace verbatim
