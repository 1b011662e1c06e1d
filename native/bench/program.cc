#include "program.h"

#include <unistd.h>

#include <cstdlib>
#include <exception>
#include <fstream>
#include <iostream>
#include <stdexcept>

namespace verbatim::bench {

int run_program(int count, char** values, const std::function<void(const std::vector<std::string>&)>& run) {
  try {
    run({values + 1, values + count});
    return 0;
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}

void sleep_while_waiting(char** arguments) {
  if (std::getenv("OMP_WAIT_POLICY") != nullptr) return;
  setenv("OMP_WAIT_POLICY", "active", 1);
  setenv("GOMP_SPINCOUNT", "4000", 0);
  execv("/proc/self/exe", arguments);
}

void write_json(const std::string& path, const nlohmann::json& document) {
  std::ofstream stream(path);
  stream << document.dump(2) << "\n";
  if (!stream.flush()) throw std::runtime_error("cannot write " + path);
}

}  // namespace verbatim::bench
