#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "options.h"
#include "program.h"
#include "speech/support.h"

namespace verbatim::bench {
namespace {

using Words = std::vector<std::string>;

const OptionSet& known() {
  static const OptionSet set{
      .defaults = {{"--threads", "1,2"}, {"--json", ""}}, .flags = {"--own-length"}, .most_operands = 2};
  return set;
}

}  // namespace

TEST_CASE("bench options: a missing option has its default, a repeated one its last value") {
  const Options none(known(), {});
  CHECK(none["--threads"] == "1,2");
  CHECK(none["--json"].empty());
  CHECK_FALSE(none.has_flag("--own-length"));
  CHECK(none.operands().empty());
  const Options given(known(), {"--threads", "4", "--own-length", "--threads", "8"});
  CHECK(given["--threads"] == "8");
  CHECK(given["--json"].empty());
  CHECK(given.has_flag("--own-length"));
}

TEST_CASE("bench options: operands may stand anywhere, and an option's value is none") {
  const Options options(known(), {"model", "--json", "--own-length", "--own-length", "file"});
  CHECK(options.operands() == Words{"model", "file"});
  CHECK(options["--json"] == "--own-length");
  CHECK(options.has_flag("--own-length"));
}

TEST_CASE("bench options: an unknown word is named") {
  const auto parse = [](const Words& words) { return Options(known(), words); };
  CHECK_THROWS_WITH_AS(parse({"--thread", "1"}), "unknown option --thread", std::invalid_argument);
  CHECK_THROWS_WITH_AS(parse({"--json", "x", "--threads"}), "--threads needs a value", std::invalid_argument);
  CHECK_THROWS_WITH_AS(parse({"a", "b", "c"}), "unexpected \"c\"", std::invalid_argument);
}

TEST_CASE("bench options: values") {
  CHECK(words_of_list("base,small") == Words{"base", "small"});
  CHECK_THROWS_AS(words_of_list(""), std::invalid_argument);
  CHECK(integer("0", 0) == 0);
  CHECK(integer("17", 1) == 17);
  for (const char* word : {"", "-1", "x", "1x", "1.5", "1,2", "99999999999"}) {
    CAPTURE(word);
    CHECK_THROWS_WITH_AS(integer(word, 0), doctest::Contains("is no integer of at least 0"), std::invalid_argument);
  }
  CHECK(positive_integers("1,2,16") == std::vector<int>{1, 2, 16});
  for (const char* list : {"", "0", "1,x", "2.5", "1,-1", "1,,2"}) {
    CAPTURE(list);
    CHECK_THROWS_AS(positive_integers(list), std::invalid_argument);
  }
  CHECK(accelerator_mode("off") == AcceleratorMode::kOff);
  CHECK(accelerator_mode("float32") == AcceleratorMode::kFloat32);
  CHECK(accelerator_mode("auto") == AcceleratorMode::kAuto);
  CHECK_THROWS_WITH_AS(accelerator_mode("on"), doctest::Contains("\"on\""), std::invalid_argument);
}

TEST_CASE("bench programs: an exception gives exit code 1, and the words are those after the name") {
  std::vector<std::string> line{"bench", "--rounds", "3"};
  std::vector<char*> values;
  for (std::string& word : line) values.push_back(word.data());
  Words seen;
  CHECK(run_program(3, values.data(), [&](const Words& words) { seen = words; }) == 0);
  CHECK(seen == Words{"--rounds", "3"});
  CHECK(run_program(3, values.data(), [](const Words&) { throw std::runtime_error("as it should"); }) == 1);
}

TEST_CASE("bench programs: a report that cannot be written is an error") {
  const test::TemporaryFile file("report.json");
  const nlohmann::json report{{"rounds", 3}};
  write_json(file.path(), report);
  CHECK(nlohmann::json::parse(test::file_text(file.path())) == report);
  CHECK_THROWS_WITH_AS(write_json(file.path() / "below-a-file", report), doctest::Contains("below-a-file"),
                       std::runtime_error);
  // A full disk allows the file to be created but not to be written.
  if (std::filesystem::exists("/dev/full")) CHECK_THROWS_AS(write_json("/dev/full", report), std::runtime_error);
}

}  // namespace verbatim::bench
