#include "translation/ggml_model.h"

#include <utility>

#include "device.h"
#include "error.h"
#include "translation/compute_type.h"
#include "translation/cpu_executor.h"
#include "translation/cpu_weights.h"
#include "translation/device_executor.h"
#include "translation/executor_factory.h"
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

class CpuFactory final : public ExecutorFactory {
 public:
  CpuFactory(const Transformer& model, PackedType type) : model_(model), weights_(model, type) {}
  std::unique_ptr<Executor> create(int threads) const override {
    return make_cpu_executor(model_, weights_, kernels(), threads);
  }
  std::size_t bytes() const noexcept override { return weights_.bytes(); }
  PackedType type() const noexcept override { return weights_.type(); }

 private:
  const Transformer& model_;
  CpuWeights weights_;
};

class DeviceFactory final : public ExecutorFactory {
 public:
  DeviceFactory(const Transformer& model, PackedType type, ggml_backend_dev_t device)
      : model_(model), device_(device), weights_(model, type, ggml_backend_dev_buffer_type(device)) {}
  std::unique_ptr<Executor> create(int threads) const override {
    return make_device_executor(model_, weights_, device_, threads);
  }
  std::size_t bytes() const noexcept override { return weights_.bytes(); }
  PackedType type() const noexcept override { return weights_.type(); }

 private:
  const Transformer& model_;
  ggml_backend_dev_t device_;
  DeviceWeights weights_;
};

class GgmlModel final : public TranslationModel, public std::enable_shared_from_this<GgmlModel> {
 public:
  GgmlModel(const std::filesystem::path& directory, const TranslationModelOptions& options,
            GgmlExecutor executor)
      : file_(Ct2File::open(directory / "model.bin")),
        codec_(directory, Ct2Config::read(directory, file_)),
        transformer_(Transformer::read(file_, codec_.config())),
        factory_(make_factory(options, executor)) {
    file_.drop_pages();
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
    return make_ggml_translator(shared_from_this(), codec_, transformer_, factory_->create(threads),
                                kernels());
  }

 private:
  std::unique_ptr<ExecutorFactory> make_factory(const TranslationModelOptions& options,
                                                GgmlExecutor executor) const {
    const PackedType type = choose_compute_type(options.compute_type, transformer_);
    if (options.device == "cpu" && executor == GgmlExecutor::kBest) {
      return std::make_unique<CpuFactory>(transformer_, type);
    }
    return std::make_unique<DeviceFactory>(transformer_, type, ggml_device(options.device));
  }

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
    info_.compute_type = packed_type_name(factory_->type());
    info_.memory_bytes = factory_->bytes();
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
  std::unique_ptr<const ExecutorFactory> factory_;
};

}  // namespace

std::shared_ptr<const TranslationModel> load_ggml_model(const std::filesystem::path& directory,
                                                        const TranslationModelOptions& options,
                                                        GgmlExecutor executor) {
  find_device(options.device);
  return std::make_shared<const GgmlModel>(directory, options, executor);
}

}  // namespace verbatim::translation
