#include "translation/backends/ggml/model.h"

#include <utility>

#include "backend_devices.h"
#include "device.h"
#include "error.h"
#include "transformer/compute_type.h"
#include "transformer/cpu/executor.h"
#include "transformer/gpu/executor.h"
#include "translation/backends/ggml/translator.h"
#include "translation/model_files.h"

namespace verbatim::translation {
namespace {

class GgmlModel final : public TranslationModel, public std::enable_shared_from_this<GgmlModel> {
 public:
  GgmlModel(const std::filesystem::path& directory, const TranslationModelOptions& options, GgmlExecutor executor)
      : TranslationModel(directory), factory_(make_factory(options, executor)) {
    files().file.drop_pages();
    info_.backend = "ggml";
    info_.device = options.device;
    info_.compute_type = transformer::compute_type_name(factory_->type());
    info_.memory_bytes = factory_->bytes();
  }

 private:
  std::unique_ptr<Translator> make_translator(int threads) const override {
    return make_ggml_translator(shared_from_this(), files(), factory_->create(threads), transformer::kernels());
  }

  std::unique_ptr<const transformer::ExecutorFactory> make_factory(const TranslationModelOptions& options,
                                                                   GgmlExecutor executor) const {
    const transformer::Transformer& transformer = files().transformer;
    if (options.device == "cpu" && executor == GgmlExecutor::kByDevice) {
      return transformer::make_cpu_factory(transformer,
                                           transformer::choose_cpu_compute_type(options.compute_type, transformer));
    }
    const auto type = transformer::choose_compute_type(options.compute_type, transformer);
    return transformer::make_gpu_factory(transformer, type,
                                         open_backend_device(options.device, options.compute_type == "float32"));
  }

  std::unique_ptr<const transformer::ExecutorFactory> factory_;
};

}  // namespace

std::shared_ptr<const TranslationModel> load_ggml_model(const std::filesystem::path& directory,
                                                        const TranslationModelOptions& options, GgmlExecutor executor) {
  find_device(options.device);
  return std::make_shared<const GgmlModel>(directory, options, executor);
}

}  // namespace verbatim::translation
