#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "audio/cutting/window.h"
#include "speech/decode.h"
#include "speech/whisper_cpp/model.h"

namespace verbatim::test {

// A clip of test/fixtures/audio/clips with what is said in it.
struct Clip {
  std::string file;
  std::string language;
  std::string text;
  int sentences = 1;
};

// The bundled model: the one ggml-*.bin in models/bundled.
std::filesystem::path bundled_model_path();
// The same, loaded once for the whole test program.
std::shared_ptr<const SpeechModel> bundled_model();

// In the order of refs.json.
const std::vector<Clip>& clips();
// The clips of one sentence.
std::vector<Clip> sentences();

// The whole clip as one window.
const Window& window_of(const std::string& file);
Window silence(double seconds);

// All segments' text, as whisper.cpp spaces it.
std::string text_of(const WindowResult& result);
// Token ids and probabilities of all segments.
std::vector<std::pair<int, float>> tokens_of(const WindowResult& result);

// Lower-case words without punctuation; hyphens separate, apostrophes inside words stay.
std::vector<std::string> words_of(const std::string& text);
// Words to insert, delete or replace to make `hypothesis` of `reference`.
std::size_t word_errors(const std::string& reference, const std::string& hypothesis);

// A file of this process under the system's temporary directory, removed with the object.
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
