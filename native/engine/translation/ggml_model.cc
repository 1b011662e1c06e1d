#include "translation/ggml_model.h"

#include <utility>

#include "device.h"
#include "error.h"
#include "translation/compute_type.h"
#include "translation/cpu_executor.h"
#include "translation/cpu_weights.h"
#include "translation/ggml_translator.h"
#include "translation/token_codec.h"

namespace verbatim::translation {
namespace {

void check_vocabulary(const char* side, std::size_t tokens, std::size_t embeddings) {
  if (tokens <= embeddings) return;
  throw EngineError(ErrorCode::kInvalidModel, std::string("the ") + side + " vocabulary has " +
                                                  std::to_string(tokens) + " tokens, the model " +
                                                  std::to_string(embeddings) + " embeddings");
}

class GgmlModel final : public TranslationModel, public std::enable_shared_from_this<GgmlModel> {
 public:
  GgmlModel(const std::filesystem::path& directory, const TranslationModelOptions& options)
      : file_(Ct2File::open(directory / "model.bin")),
        codec_(directory, Ct2Config::read(directory, file_)),
        transformer_(Transformer::read(file_, codec_.config())),
        weights_(transformer_, choose_compute_type(options.compute_type, transformer_)) {
    check_vocabularies();
    fill_info(options);
    load_tokenizers(directory);
  }

  bool has_source_token(std::string_view token) const override {
    return codec_.source().find(token).has_value();
  }
  bool has_target_token(std::string_view token) const override {
    return codec_.target().find(token).has_value();
  }

  std::unique_ptr<Translator> create_translator(int threads) const override {
    if (threads < 1) throw EngineError(ErrorCode::kInvalidArgument, "a translator needs at least 1 thread");
    auto executor = make_cpu_executor(transformer_, weights_, kernels(), threads);
    return make_ggml_translator(shared_from_this(), codec_, transformer_, std::move(executor), kernels());
  }

 private:
  void check_vocabularies() const {
    check_vocabulary("source", codec_.source().size(), transformer_.encoder.embeddings.rows);
    check_vocabulary("target", codec_.target().size(), transformer_.decoder.embeddings.rows);
    if (codec_.target().size() == transformer_.projection.weight.rows) return;
    throw EngineError(ErrorCode::kInvalidModel,
                      "the target vocabulary has " + std::to_string(codec_.target().size()) +
                          " tokens, the projection " + std::to_string(transformer_.projection.weight.rows) +
                          " outputs");
  }

  void fill_info(const TranslationModelOptions& options) {
    const Ct2Config& config = codec_.config();
    info_.backend = "ggml";
    info_.device = options.device;
    info_.compute_type = packed_type_name(weights_.type());
    info_.memory_bytes = weights_.bytes();
    info_.source_vocabulary = codec_.source().size();
    info_.target_vocabulary = codec_.target().size();
    info_.unk_token = config.unk_token;
    info_.bos_token = config.bos_token;
    info_.eos_token = config.eos_token;
    info_.decoder_start_token = config.decoder_start_token;
    info_.add_source_bos = config.add_source_bos;
    info_.add_source_eos = config.add_source_eos;
    info_.max_source_tokens = transformer_.encoder.positions.rows;
    info_.max_target_tokens = transformer_.decoder.positions.rows;
  }

  Ct2File file_;
  TokenCodec codec_;
  Transformer transformer_;
  CpuWeights weights_;
};

}  // namespace

std::shared_ptr<const TranslationModel> load_ggml_model(const std::filesystem::path& directory,
                                                        const TranslationModelOptions& options) {
  find_device(options.device);
  return std::make_shared<const GgmlModel>(directory, options);
}

}  // namespace verbatim::translation
