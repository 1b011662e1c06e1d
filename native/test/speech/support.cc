#include "speech/support.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <stdexcept>

#include "audio/cutting/read_whole.h"

namespace verbatim::test {
namespace {

const std::filesystem::path kRoot = VERBATIM_SOURCE_DIR;
const std::filesystem::path kClips = kRoot / "test/fixtures/audio/clips";

// The value of a key in one flat JSON object of the test fixtures.
std::string json_value(const std::string& object, const std::string& key) {
  const std::regex pattern("\"" + key + "\":\\s*(?:\"([^\"]*)\"|([0-9.]+))");
  std::smatch match;
  if (!std::regex_search(object, match, pattern)) throw std::runtime_error("refs.json lacks " + key);
  return match[1].matched ? match[1] : match[2];
}

std::vector<Clip> read_clips() {
  const std::string json = file_text(kClips / "refs.json");
  const std::regex objects("\\{[^}]*\\}");
  std::vector<Clip> clips;
  for (std::sregex_iterator i(json.begin(), json.end(), objects), end; i != end; ++i) {
    const std::string object = i->str();
    clips.push_back({json_value(object, "file"), json_value(object, "language"), json_value(object, "text"),
                     std::stoi(json_value(object, "sentences"))});
  }
  return clips;
}

// Non-ASCII punctuation that Whisper writes.
const char* const kWidePunctuation[] = {"¿", "¡", "«", "»", "“", "”", "„", "…", "—", "–"};
const std::pair<const char*, const char*> kWideCapitals[] = {{"À", "à"}, {"Ä", "ä"}, {"Ç", "ç"}, {"É", "é"}, {"È", "è"},
                                                             {"Ö", "ö"}, {"Ü", "ü"}, {"Á", "á"}, {"Ó", "ó"}};

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
  return text;
}

}  // namespace

std::filesystem::path bundled_model_path() {
  for (const auto& entry : std::filesystem::directory_iterator(kRoot / "models/bundled")) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("ggml-") && name.ends_with(".bin")) return entry.path();
  }
  throw std::runtime_error("no ggml-*.bin in models/bundled");
}

std::shared_ptr<const SpeechModel> bundled_model() {
  static const std::shared_ptr<const SpeechModel> model = SpeechModel::load(bundled_model_path(), "cpu");
  return model;
}

const std::vector<Clip>& clips() {
  static const std::vector<Clip> all = read_clips();
  return all;
}

std::vector<Clip> sentences() {
  std::vector<Clip> result;
  std::copy_if(clips().begin(), clips().end(), std::back_inserter(result),
               [](const Clip& clip) { return clip.sentences == 1; });
  return result;
}

const Window& window_of(const std::string& file) {
  static std::map<std::string, Window> windows;
  const auto found = windows.find(file);
  return found != windows.end() ? found->second : windows.emplace(file, read_whole(kClips / file)).first->second;
}

Window silence(double seconds) {
  Window window;
  window.samples.assign(static_cast<std::size_t>(seconds * kSampleRate), 0.0f);
  return window;
}

DecodeOptions own_length() {
  DecodeOptions options;
  options.own_length = true;
  return options;
}

std::string text_of(const WindowResult& result) {
  std::string text;
  for (const Segment& segment : result.segments) text += segment.text;
  return text;
}

std::vector<std::pair<int, float>> tokens_of(const WindowResult& result) {
  std::vector<std::pair<int, float>> tokens;
  for (const Segment& segment : result.segments) {
    for (const Token& token : segment.tokens) tokens.emplace_back(token.id, token.probability);
  }
  return tokens;
}

std::vector<std::string> words_of(const std::string& text) {
  std::string plain = text;
  for (const char* mark : kWidePunctuation) plain = replaced(plain, mark, " ");
  for (const auto& [capital, small] : kWideCapitals) plain = replaced(plain, capital, small);
  std::vector<std::string> words(1);
  for (const char c : plain) {
    const bool ascii = static_cast<unsigned char>(c) < 0x80;
    if (!ascii || std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '\'') {
      words.back() += ascii ? static_cast<char>(std::tolower(c)) : c;
    } else if (!words.back().empty()) {
      words.emplace_back();
    }
  }
  if (words.back().empty()) words.pop_back();
  return words;
}

std::size_t word_errors(const std::string& reference, const std::string& hypothesis) {
  const auto expected = words_of(reference);
  const auto actual = words_of(hypothesis);
  std::vector<std::size_t> row(actual.size() + 1);
  for (std::size_t j = 0; j < row.size(); ++j) row[j] = j;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < actual.size(); ++j) {
      const std::size_t substituted = diagonal + (expected[i] == actual[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({row[j + 1] + 1, row[j] + 1, substituted});
    }
  }
  return row.back();
}

TemporaryFile::TemporaryFile(const std::string& name)
    : path_(std::filesystem::temp_directory_path() / ("verbatim-test-" + std::to_string(::getpid()) + "-" + name)) {}

TemporaryFile::~TemporaryFile() {
  std::error_code ignored;
  std::filesystem::remove(path_, ignored);
}

void TemporaryFile::write(const std::string& bytes) const {
  std::ofstream(path_, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

std::string file_text(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

}  // namespace verbatim::test
