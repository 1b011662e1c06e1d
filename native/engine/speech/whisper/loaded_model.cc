#include "speech/whisper/loaded_model.h"

#include <string>
#include <utility>

#include "error.h"
#include "speech/whisper/alignment_heads.h"
#include "speech/window_bounds.h"
#include "transformer/cpu/decoder.h"

namespace verbatim::whisper {
namespace {

using transformer::ComputeType;

transformer::CacheTypes cache_types(ComputeType type) {
  return {.cross = type,
          .history = type == ComputeType::kFloat32 ? ComputeType::kFloat32 : ComputeType::kBfloat16};
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

ComputeType decoder_type(std::string_view compute) {
  if (compute == "auto") return ComputeType::kInt8;
  for (const ComputeType type : {ComputeType::kFloat32, ComputeType::kBfloat16, ComputeType::kInt8}) {
    if (compute == transformer::compute_type_name(type)) return type;
  }
  throw EngineError(ErrorCode::kInvalidArgument,
                    "compute type \"" + std::string(compute) +
                        "\" is unknown; auto, int8, bfloat16 and float32 are allowed");
}

LoadedModel::LoadedModel(std::shared_ptr<const Model> model, ComputeType type,
                         std::vector<transformer::AttentionHead> heads)
    : model_(std::move(model)),
      decoding_(decoding_model(*model_, std::move(heads))),
      mel_(model_->mel_filters(), model_->shape().mels),
      weights_(model_->decoder(), type),
      cache_types_(cache_types(type)),
      caches_(make_decoder()) {
  model_->drop_pages();
}

std::unique_ptr<transformer::Decoder> LoadedModel::make_decoder() const {
  return transformer::make_cpu_decoder(model_->decoder(), weights_, cache_types_, transformer::kernels());
}

}  // namespace verbatim::whisper
