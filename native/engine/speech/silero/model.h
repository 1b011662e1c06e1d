#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>

#include "audio/cutting/voice_activity_model.h"
#include "speech/silero/network.h"

namespace verbatim {

// Silero VAD on this engine's own network, on the CPU, single-threaded on the calling thread. All streams share the
// weights; a stream holds about a kilobyte.
class SileroModel final : public VoiceActivityModel, public std::enable_shared_from_this<SileroModel> {
  struct Private {};

 public:
  // Throws EngineError kInvalidModel, kIoError, kOutOfMemory.
  static std::shared_ptr<const SileroModel> load(const std::filesystem::path& path);

  SileroModel(Private, silero::Network network);

  std::unique_ptr<VoiceActivityStream> open() const override;

  // Bytes of the weights.
  std::uint64_t memory_bytes() const noexcept { return network_.memory_bytes(); }

 private:
  class Stream;

  const silero::Network network_;
};

}  // namespace verbatim
