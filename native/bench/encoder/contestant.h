#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "accelerator/accelerator.h"
#include "transformer/kernels/kernels.h"

namespace verbatim::bench {

// The encoder's input for one window: log-mel values, [mels][frames].
struct MelWindow {
  int mels = 80;
  int frames = 3000;
  std::vector<float> values;
};

// Uniform noise in [-1, 1), about the range of normalized log-mel values.
MelWindow noise_window(int mels);

// An encoder under test: a loaded model with a window. For one thread.
class Contestant {
 public:
  virtual ~Contestant() = default;
  virtual std::string name() const = 0;
  // Encodes the window on `threads` threads.
  virtual void encode(int threads) = 0;
  // The encoder's output for the window, [positions][state], of an encode() on two threads. For our own encoder, the
  // cross-attention's keys and values of it.
  virtual std::vector<float> output() = 0;
};

// whisper.cpp, with or without the accelerator. Throws EngineError, and std::runtime_error for an accelerator that is
// not built in.
std::unique_ptr<Contestant> whisper_contestant(const std::filesystem::path& model, AcceleratorMode accelerator,
                                               const MelWindow& window);

// This engine's encoder on the features of 30 s of noise, with or without the accelerator. Throws EngineError.
std::unique_ptr<Contestant> own_contestant(const std::filesystem::path& model, AcceleratorMode accelerator);

// The same in float32 on this engine's own kernels. Throws EngineError.
std::unique_ptr<Contestant> float32_contestant(const std::filesystem::path& model);

// The same in int8 on these kernels. Throws EngineError.
std::unique_ptr<Contestant> int8_contestant(const std::filesystem::path& model, const transformer::Kernels& kernels);

// CTranslate2's encoder on a directory written by write_ct2_whisper(). compute_type: CTranslate2's name of a type of
// computation, such as "float32" or "int8". Only in builds with CTranslate2.
std::unique_ptr<Contestant> ct2_contestant(const std::filesystem::path& directory, const std::string& compute_type,
                                           const MelWindow& window);

}  // namespace verbatim::bench
