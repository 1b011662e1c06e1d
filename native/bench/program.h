#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace verbatim::bench {

// main() of a bench program: calls `run` with the words of the command line. Prints an exception to stderr. Returns the
// exit code: 0, or 1 after an exception.
int run_program(int count, char** values, const std::function<void(const std::vector<std::string>&)>& run);

// Restarts the program with OMP_WAIT_POLICY=active and GOMP_SPINCOUNT=4000, so that threads spin for 0.2 ms at most,
// unless the former is set. libgomp reads them when it is loaded. The service does the same.
void sleep_while_waiting(char** arguments);

// Writes the document, indented, to a file. Throws std::runtime_error with the file's name if that fails.
void write_json(const std::string& path, const nlohmann::json& document);

}  // namespace verbatim::bench
