#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "audio/cutting/window.h"
#include "speech/decode.h"
#include "speech/whisper_cpp/model.h"

namespace verbatim::test {

// A clip of test/fixtures/audio/clips with its text.
struct Clip {
  std::string file;
  std::string language;
  std::string text;
  int sentences = 1;
};

// Path of the bundled model: the one ggml-*.bin in models/bundled.
std::filesystem::path bundled_model_path();
// The bundled model, loaded once for the whole test program.
std::shared_ptr<const SpeechModel> bundled_model();

// In the order of refs.json.
const std::vector<Clip>& clips();
// The clips of one sentence.
std::vector<Clip> sentences();

// The whole clip as one window.
const Window& window_of(const std::string& file);
Window silence(double seconds);

// A window is encoded at its own length, not at 30 s.
DecodeOptions own_length();

// All segments' text, spaced as in whisper.cpp.
std::string text_of(const WindowResult& result);
// Token ids and probabilities of all segments.
std::vector<std::pair<int, float>> tokens_of(const WindowResult& result);

// Lower-case words without punctuation; hyphens separate, apostrophes inside words stay.
std::vector<std::string> words_of(const std::string& text);
// Number of words to insert, delete or replace to turn `reference` into `hypothesis`.
std::size_t word_errors(const std::string& reference, const std::string& hypothesis);

// A file of this process in the system's temporary directory, removed with the object.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& name);
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  const std::filesystem::path& path() const noexcept { return path_; }
  void write(const std::string& bytes) const;

 private:
  std::filesystem::path path_;
};

std::string file_text(const std::filesystem::path& path);

}  // namespace verbatim::test
