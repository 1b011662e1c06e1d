// Measures throughput and latency of the engine by slots, threads, beam, device and accelerator, on machines without
// Node. Each measurement runs in its own process, so that the peak memory is the cell's; the cells take turns. Prints a
// Markdown table to stdout, writes JSON with --json.
//
//   engine_bench --models FILE,... --audio DIR [--slots 1,2] [--threads 1,2] [--beams 1] [--devices cpu]
//                [--accelerator off,float32,auto] [--windows full|short] [--language auto]
//                [--max-tokens 0] [--rounds 3] [--decoders whisper.cpp,int8] [--clients 8] [--align no|yes]
//                [--json FILE]
//
// - --windows: short cuts and encodes windows as the bundled model needs it, full as published models do.
// - Random models (make_model) need --max-tokens and a language; Parakeet's need a language alone.
// - --decoders: "whisper.cpp", where slots are concurrent windows (for Parakeet too, on whatever computes it); or a
//   compute type of the batched decoder (auto, int8, bfloat16, float32), where slots are lanes and --clients is the
//   number of concurrent files.
// - --align yes: with word times.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

#include "cell.h"
#include "options.h"
#include "program.h"
#include "report.h"

namespace {

using namespace verbatim;
using namespace verbatim::bench;

Options parse(const std::vector<std::string>& words) {
  const Options options({.defaults = {{"--models", ""},
                                      {"--audio", ""},
                                      {"--slots", "1,2"},
                                      {"--threads", "1,2"},
                                      {"--beams", "1"},
                                      {"--devices", "cpu"},
                                      {"--windows", "full"},
                                      {"--language", "auto"},
                                      {"--rounds", "3"},
                                      {"--accelerator", "auto"},
                                      {"--max-tokens", "0"},
                                      {"--decoders", "whisper.cpp"},
                                      {"--clients", "8"},
                                      {"--align", "no"},
                                      {"--json", ""}}},
                        words);
  for (const char* name : {"--models", "--audio"}) {
    if (options[name].empty()) throw std::invalid_argument(std::string(name) + " is missing");
  }
  return options;
}

// As in models/manifest.json.
void set_windows(Job& job, const std::string& word) {
  if (word != "full" && word != "short") throw std::invalid_argument("--windows is full or short");
  job.policy.search_seconds = word == "full" ? 6.0 : 3.0;
  if (word == "full") return;
  job.policy.max_seconds = 8.0;
  job.policy.cut = WindowPolicy::Cut::kPause;
  job.own_length = true;
}

Job job_of(const Options& options) {
  Job job;
  job.files = audio_files(options["--audio"]);
  set_windows(job, options["--windows"]);
  job.language = options["--language"];
  job.clients = integer(options["--clients"], 1);
  job.max_tokens = integer(options["--max-tokens"], 0);
  if (options["--align"] != "yes" && options["--align"] != "no") {
    throw std::invalid_argument("--align is yes or no");
  }
  job.align = options["--align"] == "yes";
  return job;
}

std::vector<Cell> cells_of(const Options& options) {
  std::vector<Cell> models;
  for (const std::string& model : words_of_list(options["--models"])) {
    for (const std::string& device : words_of_list(options["--devices"])) {
      for (const std::string& word : words_of_list(options["--accelerator"])) {
        for (const std::string& decoder : words_of_list(options["--decoders"])) {
          Cell cell;
          cell.model = model;
          cell.device = device;
          cell.accelerator = accelerator_mode(word);
          cell.decoder = decoder;
          models.push_back(cell);
        }
      }
    }
  }
  return sweep(models, positive_integers(options["--slots"]), positive_integers(options["--threads"]),
               positive_integers(options["--beams"]));
}

// The child's answer: a measurement, or {"error": ...}.
std::string answer_of(const Cell& cell, const Job& job) {
  try {
    return pack(measure(cell, job)).dump();
  } catch (const std::exception& error) {
    return nlohmann::json{{"error", error.what()}}.dump();
  }
}

std::string read_to_end(int descriptor) {
  std::string text;
  char block[4096];
  for (ssize_t count; (count = read(descriptor, block, sizeof(block))) > 0;) {
    text.append(block, static_cast<std::size_t>(count));
  }
  close(descriptor);
  return text;
}

void write_all(int descriptor, const std::string& text) {
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t count = write(descriptor, text.data() + done, text.size() - done);
    if (count <= 0) _exit(1);
    done += static_cast<std::size_t>(count);
  }
}

// This process never uses ggml or OpenMP itself, so that it can be forked.
Measurement measure_in_process(const Cell& cell, const Job& job) {
  int ends[2];
  if (pipe(ends) != 0) throw std::runtime_error("no pipe");
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("no process");
  if (child == 0) {
    close(ends[0]);
    write_all(ends[1], answer_of(cell, job));
    _exit(0);
  }
  close(ends[1]);
  const std::string answer = read_to_end(ends[0]);
  int status = 0;
  rusage usage{};
  if (wait4(child, &status, 0, &usage) != child || !WIFEXITED(status) || answer.empty()) {
    throw std::runtime_error("the process of a measurement died");
  }
  const auto json = nlohmann::json::parse(answer);
  if (json.contains("error")) throw std::runtime_error(json.at("error").get<std::string>());
  Measurement measurement = unpack(json);
  measurement.peak_mib = static_cast<double>(usage.ru_maxrss) / 1024;
  return measurement;
}

void run(const std::vector<std::string>& words) {
  const Options options = parse(words);
  const Job job = job_of(options);
  const int rounds = integer(options["--rounds"], 1);
  std::vector<MeasuredCell> measured;
  for (const Cell& cell : cells_of(options)) measured.push_back({cell, {}});
  nlohmann::json report{{"rounds", rounds}, {"files", job.files.size()}, {"measurements", nlohmann::json::array()}};
  for (int round = 0; round < rounds; ++round) {
    for (MeasuredCell& cell : measured) {
      cell.rounds.push_back(measure_in_process(cell.cell, job));
      report["measurements"].push_back(to_json(cell.cell, cell.rounds.back()));
    }
  }
  std::cout << table(measured);
  if (options["--json"].empty()) return;
  report["machine"] = machine();
  write_json(options["--json"], report);
}

}  // namespace

int main(int count, char** values) {
  sleep_while_waiting(values);
  return run_program(count, values, run);
}
