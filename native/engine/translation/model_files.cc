#include "translation/model_files.h"

#include <string>

#include "error.h"
#include "translation/ct2/transformer.h"

namespace verbatim::translation {
namespace {

void check_embeddings(const char* side, std::size_t tokens, std::size_t embeddings) {
  if (tokens <= embeddings) return;
  throw EngineError(ErrorCode::kInvalidModel, std::string("the ") + side + " vocabulary has " + std::to_string(tokens) +
                                                  " tokens, the model " + std::to_string(embeddings) + " embeddings");
}

void check_outputs(std::size_t tokens, std::size_t outputs) {
  if (tokens == outputs) return;
  throw EngineError(ErrorCode::kInvalidModel, "the target vocabulary has " + std::to_string(tokens) +
                                                  " tokens, the projection " + std::to_string(outputs) + " outputs");
}

}  // namespace

ModelFiles::ModelFiles(const std::filesystem::path& directory)
    : file(Ct2File::open(directory / "model.bin")),
      codec(directory, Ct2Config::read(directory, file)),
      transformer(read_transformer(file, codec.config())) {
  check_embeddings("source", codec.source().size(), transformer.encoder.embeddings.rows);
  check_embeddings("target", codec.target().size(), transformer.decoder.embeddings.rows);
  check_outputs(codec.target().size(), transformer.projection.weight.rows);
}

std::vector<transformer::TokenId> ModelFiles::encode_source(const TranslationInput& input, std::size_t index,
                                                            const TranslationOptions& options) const {
  std::vector<transformer::TokenId> ids =
      codec.encode_source(input.source, static_cast<std::size_t>(options.max_input_length));
  const std::size_t most = source_positions();
  if (most == 0 || ids.size() <= most || codec.is_empty(ids)) return ids;
  throw EngineError(ErrorCode::kInvalidArgument, "source " + std::to_string(index) + " has " +
                                                     std::to_string(ids.size()) + " tokens; this model takes at most " +
                                                     std::to_string(most));
}

}  // namespace verbatim::translation
