#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace verbatim::bench {

// main() of a bench program: runs `run` on the words of the command line. What it throws goes to stderr. The
// exit code: 0, or 1 if it threw.
int run_program(int count, char** values, const std::function<void(const std::vector<std::string>&)>& run);

// Starts the program again with OMP_WAIT_POLICY=passive unless it says something about that already: libgomp
// reads it when it is loaded, and by default its threads spin while others could work. The service does the
// same.
void sleep_while_waiting(char** arguments);

// Writes the document, indented, to a file. Throws std::runtime_error naming the file if it cannot be
// written.
void write_json(const std::string& path, const nlohmann::json& document);

}  // namespace verbatim::bench
