#include "cell.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <functional>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>

#include "audio/cutting/segmenter.h"
#include "audio/reader.h"
#include "measure.h"
#include "speech/load_recogniser.h"
#include "speech/load_slot_model.h"
#include "testing/window_runner.h"

namespace verbatim::bench {
namespace {

DecodeOptions options_of(const Cell& cell, const Job& job) {
  DecodeOptions options;
  options.language = job.language;
  options.beam_size = cell.beam;
  options.own_length = job.own_length;
  options.max_tokens = job.max_tokens;
  options.align = job.align;
  if (job.max_tokens > 0) options.temperature_increment = 0.0f;
  return options;
}

void add(Measurement& sum, const Measurement& part) {
  sum.audio_seconds += part.audio_seconds;
  sum.timings += part.timings;
  sum.windows += part.windows;
  sum.words += part.words;
  sum.latencies_ms.insert(sum.latencies_ms.end(), part.latencies_ms.begin(), part.latencies_ms.end());
}

using Transcribe = std::function<WindowResult(const Window&)>;

void transcribe(const Transcribe& transcribe_window, const std::filesystem::path& file, const Job& job,
                Measurement& part) {
  const Cost cost = cost_of([&] {
    AudioReader reader(file);
    Segmenter segmenter(reader, job.policy);
    while (const auto window = segmenter.next()) {
      const WindowResult result = transcribe_window(*window);
      part.timings += result.timings;
      for (const Segment& segment : result.segments) part.words += static_cast<int>(segment.words.size());
      ++part.windows;
    }
    part.audio_seconds += static_cast<double>(segmenter.position()) / kSampleRate;
  });
  part.latencies_ms.push_back(cost.wall_ms);
}

// Runs every worker on its own thread. The first exception stops the other workers after their current file and is
// rethrown.
Measurement transcribe_all(const std::vector<Transcribe>& workers, const Job& job) {
  std::atomic<std::size_t> next{0};
  std::exception_ptr failure;
  std::mutex mutex;
  Measurement all;
  const auto work = [&](const Transcribe& worker) {
    Measurement part;
    try {
      for (std::size_t i = next++; i < job.files.size(); i = next++) {
        transcribe(worker, job.files[i], job, part);
      }
    } catch (...) {
      next = job.files.size();
      const std::lock_guard lock(mutex);
      failure = std::current_exception();
    }
    const std::lock_guard lock(mutex);
    add(all, part);
  };
  {
    std::vector<std::jthread> threads;
    for (const Transcribe& worker : workers) threads.emplace_back([&] { work(worker); });
  }
  if (failure) std::rethrow_exception(failure);
  return all;
}

Measurement measure_workers(const std::vector<Transcribe>& workers, const Job& job, const SpeechModelInfo& model) {
  transcribe_all(workers, job);
  Measurement result;
  const Cost cost = cost_of([&] { result = transcribe_all(workers, job); });
  result.wall_seconds = cost.wall_ms / 1000;
  result.processor_seconds = cost.cpu_ms / 1000;
  result.weight_type = model.weight_type;
  result.accelerator = model.accelerator;
  return result;
}

Measurement measure_slots(const Cell& cell, const Job& job) {
  const auto model = load_slot_model(cell.model, cell.device, cell.accelerator);
  const DecodeOptions options = options_of(cell, job);
  std::vector<std::unique_ptr<WindowSlot>> slots;
  std::vector<Transcribe> workers;
  for (int i = 0; i < cell.slots; ++i) {
    slots.push_back(model->make_slot(cell.threads));
    workers.push_back(
        [&slot = *slots.back(), &options](const Window& window) { return slot.transcribe(window, options, nullptr); });
  }
  return measure_workers(workers, job, model->info());
}

Measurement measure_batch(const Cell& cell, const Job& job) {
  const auto recogniser = load_recogniser(cell.model, cell.device, cell.accelerator, cell.decoder);
  const DecodeOptions options = options_of(cell, job);
  test::WindowRunner runner(*recogniser, {.lanes = cell.slots, .threads = cell.threads});
  const std::vector<Transcribe> workers(static_cast<std::size_t>(job.clients), [&](const Window& window) {
    return runner.transcribe(std::make_shared<Window>(window), options);
  });
  return measure_workers(workers, job, recogniser->info());
}

}  // namespace

std::vector<std::filesystem::path> audio_files(const std::filesystem::path& path) {
  static const std::set<std::string> kExtensions = {".wav", ".flac", ".mp3", ".ogg", ".oga", ".opus"};
  if (!std::filesystem::exists(path)) throw std::invalid_argument("there is no " + path.string());
  if (!std::filesystem::is_directory(path)) return {path};
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(path)) {
    if (kExtensions.contains(entry.path().extension().string())) files.push_back(entry.path());
  }
  if (files.empty()) throw std::invalid_argument(path.string() + " holds no audio files");
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<Cell> sweep(const std::vector<Cell>& models, const std::vector<int>& slots, const std::vector<int>& threads,
                        const std::vector<int>& beams) {
  std::vector<Cell> cells;
  for (const Cell& model : models) {
    for (const int beam : beams) {
      for (const int thread_count : threads) {
        for (const int slot_count : slots) {
          Cell cell = model;
          cell.slots = slot_count;
          cell.threads = thread_count;
          cell.beam = beam;
          cells.push_back(cell);
        }
      }
    }
  }
  return cells;
}

Measurement measure(const Cell& cell, const Job& job) {
  return cell.decoder == "whisper.cpp" ? measure_slots(cell, job) : measure_batch(cell, job);
}

}  // namespace verbatim::bench
