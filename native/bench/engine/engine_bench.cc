// Throughput and latency of the engine by slots, threads, beam, device and accelerator, for machines without
// Node. Each measurement is made in a process of its own (its peak memory is the cell's), the cells take
// turns. Prints a Markdown table on stdout, writes JSON with --json.
//
//   engine_bench --models FILE,... --audio DIR [--slots 1,2] [--threads 1,2] [--beams 1] [--devices cpu]
//                [--acceleration off,float32,auto] [--windows full|short] [--language auto]
//                [--max-tokens 0] [--rounds 3] [--json FILE]
//
// --windows short cuts and encodes as the bundled model wants it, full as published models do. Random models
// (make_model) want --max-tokens and a language.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <fstream>
#include <iostream>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "cell.h"
#include "measure.h"
#include "report.h"

namespace {

using namespace verbatim;
using namespace verbatim::bench;

struct Arguments {
  std::map<std::string, std::string> values{
      {"--models", ""},           {"--audio", ""},        {"--slots", "1,2"},
      {"--threads", "1,2"},       {"--beams", "1"},       {"--devices", "cpu"},
      {"--windows", "full"},      {"--language", "auto"}, {"--rounds", "3"},
      {"--acceleration", "auto"}, {"--max-tokens", "0"},  {"--json", ""}};

  const std::string& operator[](const std::string& name) const { return values.at(name); }
};

Arguments parse(const std::vector<std::string>& words) {
  Arguments arguments;
  for (std::size_t i = 0; i < words.size(); i += 2) {
    if (!arguments.values.contains(words[i])) throw std::invalid_argument("unknown option " + words[i]);
    if (i + 1 == words.size()) throw std::invalid_argument(words[i] + " needs a value");
    arguments.values[words[i]] = words[i + 1];
  }
  for (const char* name : {"--models", "--audio"}) {
    if (arguments[name].empty()) throw std::invalid_argument(std::string(name) + " is missing");
  }
  return arguments;
}

Acceleration acceleration(const std::string& word) {
  static const std::map<std::string, Acceleration> kWords = {
      {"off", Acceleration::kOff}, {"float32", Acceleration::kFloat32}, {"auto", Acceleration::kAuto}};
  const auto found = kWords.find(word);
  if (found == kWords.end()) throw std::invalid_argument("--acceleration knows off, float32 and auto");
  return found->second;
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

Job job_of(const Arguments& arguments) {
  Job job;
  job.files = audio_files(arguments["--audio"]);
  set_windows(job, arguments["--windows"]);
  job.language = arguments["--language"];
  job.max_tokens = std::stoi(arguments["--max-tokens"]);
  return job;
}

std::vector<Cell> cells_of(const Arguments& arguments) {
  std::vector<Cell> models;
  for (const std::string& model : words_of_list(arguments["--models"])) {
    for (const std::string& device : words_of_list(arguments["--devices"])) {
      for (const std::string& word : words_of_list(arguments["--acceleration"])) {
        Cell cell;
        cell.model = model;
        cell.device = device;
        cell.acceleration = acceleration(word);
        models.push_back(cell);
      }
    }
  }
  return sweep(models, positive_integers(arguments["--slots"]), positive_integers(arguments["--threads"]),
               positive_integers(arguments["--beams"]));
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

// This process never touches ggml or OpenMP itself, so that it can be forked.
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

void run(const Arguments& arguments) {
  const Job job = job_of(arguments);
  const int rounds = positive_integers(arguments["--rounds"]).front();
  std::vector<MeasuredCell> measured;
  for (const Cell& cell : cells_of(arguments)) measured.push_back({cell, {}});
  nlohmann::json report{
      {"rounds", rounds}, {"files", job.files.size()}, {"measurements", nlohmann::json::array()}};
  for (int round = 0; round < rounds; ++round) {
    for (MeasuredCell& cell : measured) {
      cell.rounds.push_back(measure_in_process(cell.cell, job));
      report["measurements"].push_back(to_json(cell.cell, cell.rounds.back()));
    }
  }
  std::cout << table(measured);
  if (arguments["--json"].empty()) return;
  report["machine"] = machine();
  std::ofstream stream(arguments["--json"]);
  stream << report.dump(2) << "\n";
  if (!stream.flush()) throw std::runtime_error("cannot write " + arguments["--json"]);
}

}  // namespace

int main(int count, char** values) {
  try {
    sleep_while_waiting(values);
    run(parse({values + 1, values + count}));
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}
