#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "accelerator/accelerator.h"
#include "transformer/kernels/kernels.h"

namespace verbatim::bench {

// The options and operands of a bench program.
struct OptionSet {
  // Options as "--name", each followed by a value, with their default values.
  std::map<std::string, std::string> defaults{};
  // Options without a value.
  std::set<std::string> flags{};
  // Most operands: words that are neither an option nor its value.
  std::size_t most_operands = 0;
};

// The words of a command line, options and operands in any order. If an option is given twice, the last one counts.
class Options {
 public:
  // Throws std::invalid_argument with an unknown word, or an option whose value is missing.
  Options(const OptionSet& known, const std::vector<std::string>& words);

  // The option's value. The name must be one of the defaults.
  const std::string& operator[](const std::string& name) const { return values_.at(name); }
  bool has_flag(const std::string& name) const { return flags_.contains(name); }
  const std::vector<std::string>& operands() const { return operands_; }

 private:
  std::map<std::string, std::string> values_;
  std::set<std::string> flags_;
  std::vector<std::string> operands_;
};

// All of these throw std::invalid_argument with the word and what it should be.

// The words of a list such as "base,small"; there must be one or more.
std::vector<std::string> words_of_list(const std::string& list);
// A decimal integer of at least `least`.
int integer(const std::string& word, int least);
// The numbers of a list such as "1,2,4".
std::vector<int> positive_integers(const std::string& list);
// off, float32 or auto.
AcceleratorMode accelerator_mode(const std::string& word);
// A variant that this processor runs.
const transformer::Kernels& kernels_of(const std::string& name);

}  // namespace verbatim::bench
