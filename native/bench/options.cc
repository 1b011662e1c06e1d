#include "options.h"

#include <charconv>
#include <sstream>
#include <stdexcept>
#include <system_error>

namespace verbatim::bench {

Options::Options(const OptionSet& known, const std::vector<std::string>& words) : values_(known.defaults) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (known.flags.contains(word)) {
      flags_.insert(word);
    } else if (known.defaults.contains(word)) {
      if (++i == words.size()) throw std::invalid_argument(word + " needs a value");
      values_[word] = words[i];
    } else if (word.starts_with("--")) {
      throw std::invalid_argument("unknown option " + word);
    } else {
      if (operands_.size() == known.most_operands) throw std::invalid_argument("unexpected \"" + word + "\"");
      operands_.push_back(word);
    }
  }
}

std::vector<std::string> words_of_list(const std::string& list) {
  std::vector<std::string> words;
  std::stringstream stream(list);
  for (std::string word; std::getline(stream, word, ',');) words.push_back(word);
  if (words.empty()) throw std::invalid_argument("a list is empty");
  return words;
}

int integer(const std::string& word, int least) {
  int value = 0;
  const char* const end = word.data() + word.size();
  const auto [stop, error] = std::from_chars(word.data(), end, value);
  if (error != std::errc{} || stop != end || value < least) {
    throw std::invalid_argument("\"" + word + "\" is no integer of at least " + std::to_string(least));
  }
  return value;
}

std::vector<int> positive_integers(const std::string& list) {
  std::vector<int> values;
  for (const std::string& word : words_of_list(list)) values.push_back(integer(word, 1));
  return values;
}

AcceleratorMode accelerator_mode(const std::string& word) {
  static const std::map<std::string, AcceleratorMode> kWords = {
      {"off", AcceleratorMode::kOff}, {"float32", AcceleratorMode::kFloat32}, {"auto", AcceleratorMode::kAuto}};
  const auto found = kWords.find(word);
  if (found == kWords.end()) {
    throw std::invalid_argument("\"" + word + "\" is no accelerator mode: off, float32 and auto are");
  }
  return found->second;
}

const transformer::Kernels& kernels_of(const std::string& name) {
  std::string allowed;
  for (const transformer::Kernels* const variant : transformer::available_kernels()) {
    if (name == variant->name) return *variant;
    allowed += (allowed.empty() ? "" : ", ") + std::string(variant->name);
  }
  throw std::invalid_argument("this processor does not run the kernels \"" + name + "\", only " + allowed);
}

}  // namespace verbatim::bench
