#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "accelerator/accelerator.h"

namespace verbatim::bench {

// One window as the encoder sees it: log-mel values, [mels][frames].
struct MelWindow {
  int mels = 80;
  int frames = 3000;
  std::vector<float> values;
};

// Uniform noise in [-1, 1), about the range of normalized log-mel values.
MelWindow noise_window(int mels);

// An encoder under test: a loaded model with a window in it. One thread uses it.
class Contestant {
 public:
  virtual ~Contestant() = default;
  virtual std::string name() const = 0;
  // Encodes the window on so many threads.
  virtual void encode(int threads) = 0;
  // The encoder's output for the window, [positions][state], of an encode() on two threads; of our own the
  // cross-attention's keys and values of it.
  virtual std::vector<float> output() = 0;
};

// whisper.cpp, with or without the accelerator. Throws EngineError, and std::runtime_error where an
// accelerator is asked for and none was built in.
std::unique_ptr<Contestant> whisper_contestant(const std::filesystem::path& model,
                                               AcceleratorMode accelerator, const MelWindow& window);

// Our own encoder on the features of 30 s of noise, with or without the accelerator. Throws EngineError.
std::unique_ptr<Contestant> own_contestant(const std::filesystem::path& model, AcceleratorMode accelerator);

// CTranslate2's encoder on a directory that write_ct2_whisper() wrote. compute_type: its name of a type of
// computation, such as "float32" or "int8". Only in builds with CTranslate2.
std::unique_ptr<Contestant> ct2_contestant(const std::filesystem::path& directory,
                                           const std::string& compute_type, const MelWindow& window);

}  // namespace verbatim::bench
