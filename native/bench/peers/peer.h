#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "audio/cutting/window.h"
#include "speech/decode_options.h"
#include "transformer/token_id.h"

namespace verbatim::bench {

using Windows = std::vector<std::shared_ptr<const Window>>;
// The text tokens of each window.
using Texts = std::vector<std::vector<transformer::TokenId>>;

// How a program uses the processor.
struct Layout {
  // Lanes, slots or replicas: what runs at the same time.
  int workers = 1;
  // Threads of each worker.
  int threads = 1;
};

// A program that transcribes windows from samples to tokens, with its model loaded.
class Peer {
 public:
  virtual ~Peer() = default;
  virtual std::string name() const = 0;
  // Transcribes the windows in English, greedily, as many at once as the program can. Throws EngineError and what the
  // program throws.
  virtual Texts transcribe(const Windows& windows) = 0;
};

// This engine. model: a ggml file. compute: of load_recogniser().
std::unique_ptr<Peer> own_peer(const std::filesystem::path& model, const std::string& compute, const Layout& layout);

// whisper.cpp without the accelerator: each worker decodes one window at a time.
std::unique_ptr<Peer> whisper_cpp_peer(const std::filesystem::path& model, const Layout& layout);

// CTranslate2 on a directory of write_ct2_whisper(): each worker decodes an equal share of the windows as one batch.
// compute: CTranslate2's name of a type of computation. It takes features, so this engine computes them, with the mel
// filters of `model`, a ggml file.
std::unique_ptr<Peer> ct2_peer(const std::filesystem::path& directory, const std::string& compute,
                               const std::filesystem::path& model, const Layout& layout);

// Greedy English without fall-back.
DecodeOptions plain_english();
// The text tokens of all segments.
std::vector<transformer::TokenId> text_tokens(const WindowResult& result);

}  // namespace verbatim::bench
