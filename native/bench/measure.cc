#include "measure.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <sstream>
#include <stdexcept>

namespace verbatim::bench {

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 != 0 ? values.at(half) : (values.at(half - 1) + values.at(half)) / 2;
}

double percentile(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  const auto rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(values.size())));
  return values.at(std::max<std::size_t>(rank, 1) - 1);
}

double least(const std::vector<double>& values) { return *std::min_element(values.begin(), values.end()); }
double most(const std::vector<double>& values) { return *std::max_element(values.begin(), values.end()); }

std::vector<std::string> words_of_list(const std::string& list) {
  std::vector<std::string> words;
  std::stringstream stream(list);
  for (std::string word; std::getline(stream, word, ',');) words.push_back(word);
  if (words.empty()) throw std::invalid_argument("a list is empty");
  return words;
}

std::vector<int> positive_integers(const std::string& list) {
  std::vector<int> values;
  for (const std::string& word : words_of_list(list)) {
    std::size_t end = 0;
    values.push_back(std::stoi(word, &end));
    if (end != word.size() || values.back() < 1) {
      throw std::invalid_argument("\"" + word + "\" is no positive integer");
    }
  }
  return values;
}

void sleep_while_waiting(char** arguments) {
  if (std::getenv("OMP_WAIT_POLICY") != nullptr) return;
  setenv("OMP_WAIT_POLICY", "passive", 1);
  execv("/proc/self/exe", arguments);
}

}  // namespace verbatim::bench
