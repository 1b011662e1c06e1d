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
  // Concurrent windows with whisper.cpp; lanes with the batched decoder.
  int slots = 1;
  // CPU threads of a slot or lane.
  int threads = 1;
  // 1 = greedy.
  int beam = 1;
};

// The work that every cell is measured on.
struct Job {
  std::vector<std::filesystem::path> files;
  WindowPolicy policy;
  // Encode windows at their own length; for models trained for it.
  bool own_length = false;
  // A language code, or "auto".
  std::string language = "auto";
  // Concurrent files with the batched decoder; with whisper.cpp it is the number of slots.
  int clients = 8;
  // Most tokens of a window, without temperature fall-back: fixes the decoder's work for random weights. 0: the model
  // decides, with fall-back.
  int max_tokens = 0;
  // Align words.
  bool align = false;
};

struct Measurement {
  std::string weight_type;
  // Empty for none.
  std::string accelerator;
  double audio_seconds = 0;
  double wall_seconds = 0;
  // Sum over all cores.
  double processor_seconds = 0;
  // For each file, from opening it to its text.
  std::vector<double> latencies_ms;
  // Sums over all windows.
  Timings timings;
  int windows = 0;
  // Number of aligned words.
  int words = 0;
  // Of the measuring process; set by the process that started it.
  double peak_mib = 0;
};

// The audio files of a directory, by name, or the one file. Throws std::invalid_argument for none.
std::vector<std::filesystem::path> audio_files(const std::filesystem::path& path);

// All combinations. Cells on a CPU that need more threads than there are cores are kept too.
std::vector<Cell> sweep(const std::vector<Cell>& models, const std::vector<int>& slots, const std::vector<int>& threads,
                        const std::vector<int>& beams);

// Loads the model and transcribes all files twice, timing the second pass. Each slot or client takes the next file as
// soon as it is free. Throws EngineError.
Measurement measure(const Cell& cell, const Job& job);

}  // namespace verbatim::bench
