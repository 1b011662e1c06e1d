#include "speech/whisper/decoding/loaded_model.h"

#include <string>
#include <utility>

#include "device.h"
#include "error.h"
#include "speech/whisper/model/alignment_heads.h"
#include "speech/window_bounds.h"

namespace verbatim::whisper {
namespace {

using transformer::ComputeType;

// The type for a spelling. "auto" is the fastest type that does not raise the word error rate; on a device,
// whisper.cpp's.
ComputeType decoder_type(std::string_view compute, bool on_graphs) {
  if (compute == "auto") return on_graphs ? ComputeType::kFloat16 : ComputeType::kInt8;
  for (const ComputeType type : {ComputeType::kFloat32, ComputeType::kBfloat16, ComputeType::kInt8}) {
    if (compute == transformer::compute_type_name(type)) return type;
  }
  throw EngineError(ErrorCode::kInvalidArgument, "compute type \"" + std::string(compute) +
                                                     "\" is unknown; auto, int8, bfloat16 and float32 are allowed");
}

DecodingModel decoding_model(const Model& model, std::vector<transformer::AttentionHead> heads) {
  DecodingModel decoding;
  const ModelShape& shape = model.shape();
  decoding.tokens = model.vocabulary().special();
  const auto blank = model.vocabulary().find(" ");
  if (!blank) throw EngineError(ErrorCode::kInvalidModel, "the vocabulary has no token for a space");
  decoding.blank = *blank;
  decoding.languages = model.info().languages;
  decoding.text_positions = shape.text_context;
  decoding.time_stamps = knows_time_stamps(shape.text_layers, shape.vocabulary);
  decoding.alignment_heads = alignment_heads(shape, std::move(heads));
  return decoding;
}

}  // namespace

LoadedModel::LoadedModel(std::shared_ptr<const Model> model, ComputeType type,
                         std::vector<transformer::AttentionHead> heads, transformer::WeightCache& cache)
    : model_(std::move(model)),
      decoding_(decoding_model(*model_, std::move(heads))),
      mel_(model_->mel_filters(), model_->shape().mels),
      decoders_(make_decoder_maker(model_->decoder(), model_->file(), type, model_->graph_device(), cache)),
      weight_cache_(cache.is_on() ? std::optional(cache.report()) : std::nullopt) {
  model_->drop_pages();
}

std::unique_ptr<const LoadedModel> LoadedModel::load(const std::filesystem::path& path, std::string_view device,
                                                     AcceleratorMode accelerator, std::string_view compute,
                                                     std::vector<transformer::AttentionHead> alignment_heads,
                                                     SpeechExecutor executor,
                                                     const transformer::WeightCacheOptions& weight_cache) {
  const bool on_graphs = executor == SpeechExecutor::kGraphs || find_device(device).id != "cpu";
  const ComputeType type = decoder_type(compute, on_graphs);
  transformer::WeightCache cache(weight_cache, path);
  auto model = [&] {
    if (on_graphs) return Model::load_graphs(path, device, type == ComputeType::kFloat32);
    if (accelerator == AcceleratorMode::kOff) return Model::load(path, accelerator);
    // "auto" is not int8 for the encoder: in int8 it costs the bundled model 0.1 to 0.25 points of its words.
    return Model::load(path, transformer::choose_format(accelerator, compute), cache);
  }();
  return std::make_unique<const LoadedModel>(std::move(model), type, std::move(alignment_heads), cache);
}

}  // namespace verbatim::whisper
