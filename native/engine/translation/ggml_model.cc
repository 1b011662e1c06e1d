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
#include "translation/model_files.h"

namespace verbatim::translation {
namespace {

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
      : TranslationModel(directory), factory_(make_factory(options, executor)) {
    files().file.drop_pages();
    info_.backend = "ggml";
    info_.device = options.device;
    info_.compute_type = packed_type_name(factory_->type());
    info_.memory_bytes = factory_->bytes();
  }

 private:
  std::unique_ptr<Translator> make_translator(int threads) const override {
    return make_ggml_translator(shared_from_this(), files(), factory_->create(threads), kernels());
  }

  std::unique_ptr<ExecutorFactory> make_factory(const TranslationModelOptions& options,
                                                GgmlExecutor executor) const {
    const Transformer& transformer = files().transformer;
    const PackedType type = choose_compute_type(options.compute_type, transformer);
    if (options.device == "cpu" && executor == GgmlExecutor::kBest) {
      return std::make_unique<CpuFactory>(transformer, type);
    }
    return std::make_unique<DeviceFactory>(transformer, type, ggml_device(options.device));
  }

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
