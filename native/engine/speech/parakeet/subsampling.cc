#include "speech/parakeet/subsampling.h"

#include <algorithm>
#include <array>

#include "transformer/kernels/kernels.h"
#include "transformer/transformer.h"

namespace verbatim::parakeet {
namespace {

using accelerator::WeightProduct;

constexpr std::size_t kTaps = 9;
// Positions that are computed at a time. With the published shape the largest plane takes 8 MiB.
constexpr std::int64_t kChunk = 32;

std::size_t size_of(std::int64_t value) { return static_cast<std::size_t>(value); }

}  // namespace

Subsampling::Subsampling(const SubsamplingWeights& weights, const accelerator::WeightStore& store,
                         accelerator::Multiplier& multiplier, int threads)
    : weights_(weights),
      store_(store),
      multiplier_(multiplier),
      threads_(threads),
      channels_(weights.second_bias.size()),
      zeros_(channels_) {}

void Subsampling::run(const MelSpectrogram& mel, float* out) {
  const std::int64_t positions = positions_of(mel.frames);
  const std::size_t state = weights_.out_bias.size();
  for (std::int64_t first = 0; first < positions; first += kChunk) {
    chunk(mel, first, std::min(kChunk, positions - first), out + size_of(first) * state);
  }
}

// Every plane begins one row before the input of the next one, and ends one row behind it.
void Subsampling::chunk(const MelSpectrogram& mel, std::int64_t first, std::int64_t count, float* out) {
  const std::int64_t bands = mel.bands / 8;
  const std::int64_t second_end = (mel.frames + 3) / 4;
  const Plane first_plane{4 * first - 3, 4 * count + 3, (mel.frames + 1) / 2};
  const Plane second_plane{2 * first - 1, 2 * count + 1, second_end};
  const Plane third_plane{first, count, positions_of(mel.frames)};
  const std::size_t operand = accelerator::operand_size(&store_);

  first_convolution(mel, first_plane);
  convolution(first_.data(), weights_.second, weights_.second_bias, second_plane, 2 * bands);
  const std::size_t row = size_of(2 * bands) * channels_;
  second_.resize(size_of(second_plane.rows) * row);
  multiplier_.multiply({.weight = weights_.second_mix,
                        .rows = second_plane.rows * 2 * bands,
                        .left = operands_.data(),
                        .bias = weights_.second_mix_bias.data(),
                        .then = WeightProduct::Then::kRelu,
                        .result = second_.data()});
  for (std::int64_t i = 0; i < second_plane.rows; ++i) {
    if (!second_plane.is_inside(i)) std::fill_n(second_.data() + size_of(i) * row, row, 0.0f);
  }

  convolution(second_.data(), weights_.third, weights_.third_bias, third_plane, bands);
  features_.resize(size_of(count * bands) * channels_ * operand);
  multiplier_.multiply({.weight = weights_.third_mix,
                        .rows = count * bands,
                        .left = operands_.data(),
                        .bias = weights_.third_mix_bias.data(),
                        .then = WeightProduct::Then::kRelu,
                        .result = features_.data(),
                        .as_operands = true});
  multiplier_.multiply({.weight = weights_.out,
                        .rows = count,
                        .left = features_.data(),
                        .bias = weights_.out_bias.data(),
                        .result = out});
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
  accelerator::for_each(plane.rows, threads_, [&](std::int64_t i, std::size_t thread) {
    float* const out = first_.data() + size_of(i) * row;
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
    transformer::kernels().gemm_float32(call);
  });
}

void Subsampling::convolution(const float* from, const std::vector<float>& kernel, const std::vector<float>& bias,
                              const Plane& plane, std::int64_t bands) {
  const std::size_t operand = accelerator::operand_size(&store_);
  operands_.resize(size_of(plane.rows * bands) * channels_ * operand);
  rows_.resize(size_of(threads_) * channels_);
  accelerator::for_each(plane.rows, threads_, [&](std::int64_t i, std::size_t thread) {
    float* const result = rows_.data() + thread * channels_;
    std::array<const float*, kTaps> taps{};
    for (std::int64_t band = 0; band < bands; ++band) {
      for (std::int64_t j = 0; j < 9; ++j) {
        const std::int64_t other = 2 * band - 1 + j % 3;
        const std::int64_t place = (2 * i + j / 3) * 2 * bands + other;
        taps[size_of(j)] = other < 0 ? zeros_.data() : from + size_of(place) * channels_;
      }
      transformer::kernels().mix_rows({.rows = taps.data(),
                                       .weights = kernel.data(),
                                       .taps = kTaps,
                                       .bias = bias.data(),
                                       .size = channels_,
                                       .out = result});
      accelerator::to_operands(store_, result, channels_,
                               operands_.data() + size_of(i * bands + band) * channels_ * operand);
    }
  });
}

std::size_t Subsampling::memory_bytes() const noexcept {
  return sizeof(float) *
             (zeros_.capacity() + taps_.capacity() + rows_.capacity() + first_.capacity() + second_.capacity()) +
         operands_.capacity() + features_.capacity();
}

}  // namespace verbatim::parakeet
