#pragma once

#include <memory>
#include <vector>

#include "speech/whisper/encoder/encoder.h"
#include "transformer/cpu/decoder.h"

namespace verbatim::test {

// A file loaded by this engine's loader, with a single-threaded encoder and the runtime's decoder.
struct OwnModel {
  std::shared_ptr<const whisper::Model> model;
  transformer::CpuWeights weights;
  std::unique_ptr<transformer::Decoder> decoder;
  std::unique_ptr<whisper::Encoder> encoder;

  explicit OwnModel(const std::filesystem::path& path, AcceleratorMode accelerator = AcceleratorMode::kFloat32)
      : model(whisper::Model::load(path, accelerator)),
        weights(model->decoder(), transformer::ComputeType::kFloat32),
        decoder(make_cpu_decoder(model->decoder(), weights, {}, transformer::kernels())),
        encoder(whisper::make_encoder(model, 1)) {}

  whisper::MelSpectrogram spectrogram(std::span<const float> samples) const {
    return whisper::MelExtractor(model->mel_filters(), model->shape().mels).spectrogram(samples);
  }

  std::unique_ptr<transformer::CrossCache> encode(const whisper::MelSpectrogram& mel, int positions) {
    auto cross = decoder->make_cross_cache(static_cast<std::size_t>(positions));
    whisper::EncoderRun run(*model, mel, 0, positions, *cross);
    while (!encoder->advance(run, nullptr)) {
    }
    return cross;
  }

  // Logits behind each token of a text.
  std::vector<std::vector<float>> logits(const std::vector<whisper::TokenId>& text,
                                         const transformer::CrossCache& cross) {
    const auto history = decoder->make_history();
    std::vector<transformer::DecoderInput> rows;
    for (const whisper::TokenId token : text) rows.push_back({token, history.get(), &cross});
    std::vector<std::vector<float>> all(text.size());
    decoder->step(
        rows, [&](std::size_t row, std::span<float> values) { all[row].assign(values.begin(), values.end()); }, 1,
        nullptr, nullptr);
    return all;
  }
};

}  // namespace verbatim::test
