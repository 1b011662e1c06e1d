#include "speech/whisper/alignment/text_aligner.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "audio/sample_rate.h"

namespace verbatim::whisper {
namespace {

// Most rows of a step, which bounds the wait for an abort.
constexpr std::size_t kMostRows = 64;

int hundredths_of(std::span<const float> samples) {
  return static_cast<int>((samples.size() * 100 + kSampleRate - 1) / kSampleRate);
}

}  // namespace

TextAligner::TextAligner(const LoadedModel& model, int threads)
    : model_(model),
      threads_(threads),
      encoder_(make_encoder(model.model(), threads)),
      decoder_(model.make_decoder()) {}

std::unique_ptr<transformer::CrossCache> TextAligner::encode(std::span<const float> samples, int positions,
                                                             const AbortFlag* abort) {
  const MelSpectrogram mel = model_.mel().spectrogram(samples);
  auto source = decoder_->make_cross_cache(static_cast<std::size_t>(positions));
  EncoderRun run(*model_.model(), mel, 0, positions, *source);
  while (!encoder_->advance(run, abort)) {
  }
  return source;
}

PassAlignment TextAligner::align(std::span<const float> samples, int positions, std::vector<TokenId> prompt,
                                 std::span<const TokenId> text, std::span<const transformer::AttentionHead> heads,
                                 const AbortFlag* abort, std::span<const SpeechSpan> speech) {
  const auto source = encode(samples, positions, abort);
  std::vector<std::string_view> pieces;
  for (const TokenId token : text) pieces.push_back(model_.model()->vocabulary().text(token));
  PassAlignment pass(std::move(prompt), text, pieces, heads.size(),
                     positions_of_speech(speech, 0, hundredths_of(samples), static_cast<std::size_t>(positions)),
                     static_cast<std::size_t>(model_.decoding().text_positions));
  const auto history = decoder_->make_history();
  const auto& rows = pass.request().rows;
  for (std::size_t first = 0; first < rows.size(); first += kMostRows) {
    std::vector<transformer::DecoderInput> inputs;
    for (std::size_t i = first; i < std::min(first + kMostRows, rows.size()); ++i)
      inputs.push_back({rows[i].token, history.get(), source.get(), false, rows[i].wants_attention});
    const transformer::AttentionRecord record{heads,
                                              [&](std::size_t row, std::size_t head, std::span<const float> weights) {
                                                pass.on_attention(first + row, head, weights);
                                              }};
    decoder_->step(
        inputs, [](std::size_t, std::span<float>) {}, threads_, &record, abort);
  }
  return pass;
}

}  // namespace verbatim::whisper
