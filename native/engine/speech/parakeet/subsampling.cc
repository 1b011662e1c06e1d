#include "speech/parakeet/subsampling.h"

#include <algorithm>
#include <array>

#include "transformer/cpu/parallel.h"
#include "transformer/transformer.h"

namespace verbatim::parakeet {
namespace {

using transformer::EncoderLayers;
using transformer::PositionBlock;

constexpr std::size_t kTaps = 9;
// Positions that are computed at a time. With the published shape the largest plane takes 8 MiB.
constexpr std::int64_t kChunk = 32;

std::size_t size_of(std::int64_t value) { return static_cast<std::size_t>(value); }

}  // namespace

Subsampling::Subsampling(const SubsamplingWeights& weights, transformer::EncoderLayers& layers,
                         const transformer::Kernels& kernels, int threads)
    : weights_(weights),
      layers_(layers),
      kernels_(kernels),
      threads_(threads),
      channels_(weights.second_bias.size()),
      zeros_(channels_) {}

void Subsampling::run(const MelSpectrogram& mel, float* out) {
  const std::int64_t positions = positions_of(mel.frames);
  const std::size_t inputs = size_of(mel.bands / 8) * channels_;
  features_.resize(size_of(positions) * inputs);
  for (std::int64_t first = 0; first < positions; first += kChunk) {
    chunk(mel, first, std::min(kChunk, positions - first), features_.data() + size_of(first) * inputs);
  }
  const std::size_t state = weights_.out.weight.outputs();
  layers_.for_each_block(size_of(positions), [&](PositionBlock block, EncoderLayers::Lane& lane) {
    lane.multiplier->multiply({.weight = weights_.out.weight,
                               .rows = block.count,
                               .operands = EncoderLayers::operands(lane, features_.data() + block.first * inputs,
                                                                   block.count, inputs, inputs, lane.inner_operands),
                               .epilogue = {.bias = weights_.out.bias.data()},
                               .y = out + block.first * state});
  });
}

// Every plane begins one row before the input of the next one, and ends one row behind it.
void Subsampling::chunk(const MelSpectrogram& mel, std::int64_t first, std::int64_t count, float* features) {
  const std::int64_t bands = mel.bands / 8;
  const std::int64_t second_end = (mel.frames + 3) / 4;
  const Plane first_plane{4 * first - 3, 4 * count + 3, (mel.frames + 1) / 2};
  const Plane second_plane{2 * first - 1, 2 * count + 1, second_end};

  first_convolution(mel, first_plane);
  const std::size_t row = size_of(2 * bands) * channels_;
  second_.resize(size_of(second_plane.rows) * row);
  convolution({weights_.second, weights_.second_bias, weights_.second_mix}, first_.data(), size_of(second_plane.rows),
              size_of(2 * bands), second_.data());
  for (std::int64_t i = 0; i < second_plane.rows; ++i) {
    if (!second_plane.is_inside(i)) std::fill_n(second_.data() + size_of(i) * row, row, 0.0f);
  }
  convolution({weights_.third, weights_.third_bias, weights_.third_mix}, second_.data(), size_of(count), size_of(bands),
              features);
}

// A matrix product over the neighbourhood of each band at each second frame.
void Subsampling::first_convolution(const MelSpectrogram& mel, const Plane& plane) {
  const std::int64_t bands = mel.bands / 2;
  const std::size_t row = size_of(bands) * channels_;
  first_.resize(size_of(plane.rows) * row);
  const std::size_t around = size_of(bands) * kTaps;
  taps_.resize(size_of(threads_) * around);
  const auto at = [&](std::int64_t frame, std::int64_t band) {
    const bool is_inside = frame >= 0 && frame < mel.frames && band >= 0 && band < mel.bands;
    return is_inside ? mel.values[size_of(frame * mel.bands + band)] : 0.0f;
  };
  transformer::for_each(size_of(plane.rows), threads_, [&](std::size_t index, std::size_t thread) {
    const auto i = static_cast<std::int64_t>(index);
    float* const out = first_.data() + index * row;
    if (!plane.is_inside(i)) {
      std::fill_n(out, row, 0.0f);
      return;
    }
    float* const taps = taps_.data() + thread * around;
    float* tap = taps;
    for (std::int64_t band = 0; band < bands; ++band) {
      for (std::int64_t j = 0; j < 9; ++j) {
        *tap++ = at(2 * (plane.first + i) - 1 + j / 3, 2 * band - 1 + j % 3);
      }
    }
    transformer::GemmCall call;
    weights_.first.prepare(call);
    call.x = taps;
    call.rows = size_of(bands);
    call.last_panel = weights_.first.panels();
    call.y = out;
    call.ld = channels_;
    call.epilogue.bias = weights_.first_bias.data();
    call.epilogue.activation = static_cast<int>(transformer::Activation::kRelu);
    kernels_.gemm_float32(call);
  });
}

void Subsampling::convolution(const Convolution& convolution, const float* from, std::size_t rows, std::size_t bands,
                              float* out) {
  layers_.for_each_block(rows * bands, [&](PositionBlock block, EncoderLayers::Lane& lane) {
    lane.inner.resize(std::max(lane.inner.size(), block.count * channels_));
    std::array<const float*, kTaps> taps{};
    for (std::size_t i = 0; i < block.count; ++i) {
      const std::size_t row = (block.first + i) / bands;
      const std::size_t band = (block.first + i) % bands;
      for (std::size_t j = 0; j < kTaps; ++j) {
        const bool is_below = band == 0 && j % 3 == 0;
        const std::size_t place = (2 * row + j / 3) * 2 * bands + 2 * band + j % 3 - 1;
        taps[j] = is_below ? zeros_.data() : from + place * channels_;
      }
      kernels_.mix_rows({.rows = taps.data(),
                         .weights = convolution.kernel.data(),
                         .taps = kTaps,
                         .bias = convolution.bias.data(),
                         .size = channels_,
                         .out = lane.inner.data() + i * channels_});
    }
    lane.multiplier->multiply(
        {.weight = convolution.mix.weight,
         .rows = block.count,
         .operands = EncoderLayers::operands(lane, lane.inner.data(), block.count, channels_, channels_, lane.operands),
         .epilogue = {.bias = convolution.mix.bias.data(),
                      .activation = static_cast<int>(transformer::Activation::kRelu)},
         .y = out + block.first * channels_});
  });
}

std::size_t Subsampling::memory_bytes() const noexcept {
  return sizeof(float) *
         (zeros_.capacity() + taps_.capacity() + first_.capacity() + second_.capacity() + features_.capacity());
}

}  // namespace verbatim::parakeet
