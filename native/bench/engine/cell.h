#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "accelerator/accelerator.h"
#include "audio/cutting/window.h"
#include "speech/decode.h"

namespace verbatim::bench {

// One setting of the engine.
struct Cell {
  std::filesystem::path model;
  std::string device = "cpu";
  AcceleratorMode accelerator = AcceleratorMode::kAuto;
  // "whisper.cpp", or a compute type of the batched decoder: "auto", "int8", "bfloat16", "float32".
  std::string decoder = "whisper.cpp";
  // Windows at a time with whisper.cpp, lanes of the batched decoder.
  int slots = 1;
  // CPU threads a slot or lane.
  int threads = 1;
  // 1 = greedy.
  int beam = 1;
};

// What every cell is measured on.
struct Job {
  std::vector<std::filesystem::path> files;
  WindowPolicy policy;
  // Windows are encoded at their own length; for models trained for it.
  bool own_length = false;
  // A code, or "auto".
  std::string language = "auto";
  // Files in flight with the batched decoder; with whisper.cpp as many as slots.
  int clients = 8;
  // Tokens a window at most, without temperature fall-back: fixes the decoder's work where the weights are
  // random. 0: the model decides, with fall-back.
  int max_tokens = 0;
  // Words are aligned.
  bool align = false;
};

struct Measurement {
  std::string weight_type;
  // Empty for none.
  std::string accelerator;
  double audio_seconds = 0;
  double wall_seconds = 0;
  // Of all cores.
  double processor_seconds = 0;
  // Of each file, from opening it to its text.
  std::vector<double> latencies_ms;
  // Summed over windows.
  Timings timings;
  int windows = 0;
  // Whose times were found.
  int words = 0;
  // Of the process that measured; filled in by who started it.
  double peak_mib = 0;
};

// The audio files of a directory, by name, or the one file. Throws std::invalid_argument for none.
std::vector<std::filesystem::path> audio_files(const std::filesystem::path& path);

// All combinations; cells of a CPU that ask for more threads in all than there are cores are kept.
std::vector<Cell> sweep(const std::vector<Cell>& models, const std::vector<int>& slots,
                        const std::vector<int>& threads, const std::vector<int>& beams);

// Loads the model, transcribes all files, then transcribes all files once more, each slot or client taking
// the next file as soon as it is free, and times that. Throws EngineError.
Measurement measure(const Cell& cell, const Job& job);

}  // namespace verbatim::bench
