#include "speech/whisper/model/alignment_heads.h"

#include <algorithm>
#include <cstddef>
#include <string>

#include "error.h"

namespace verbatim::whisper {
namespace {

using transformer::AttentionHead;

constexpr std::size_t kMostByDefault = 64;

std::vector<AttentionHead> upper_half(const ModelShape& shape) {
  std::vector<AttentionHead> all;
  const auto layers = static_cast<std::size_t>(shape.text_layers);
  const auto heads = static_cast<std::size_t>(shape.text_heads);
  for (std::size_t layer = layers / 2; layer < layers; ++layer) {
    for (std::size_t head = 0; head < heads; ++head) all.push_back({layer, head});
  }
  if (all.size() <= kMostByDefault) return all;
  std::vector<AttentionHead> spread;
  for (std::size_t i = 0; i < kMostByDefault; ++i) spread.push_back(all[i * all.size() / kMostByDefault]);
  return spread;
}

[[noreturn]] void refuse(std::size_t index, const AttentionHead& head, const std::string& why) {
  throw EngineError(ErrorCode::kInvalidArgument, "alignmentHeads[" + std::to_string(index) + "] is layer " +
                                                     std::to_string(head.layer) + ", head " +
                                                     std::to_string(head.head) + why);
}

}  // namespace

std::vector<AttentionHead> alignment_heads(const ModelShape& shape, std::vector<AttentionHead> given) {
  if (given.empty()) return upper_half(shape);
  for (std::size_t i = 0; i < given.size(); ++i) {
    const AttentionHead& head = given[i];
    if (head.layer >= static_cast<std::size_t>(shape.text_layers) ||
        head.head >= static_cast<std::size_t>(shape.text_heads)) {
      refuse(i, head,
             "; the model has layers 0 to " + std::to_string(shape.text_layers - 1) + " with heads 0 to " +
                 std::to_string(shape.text_heads - 1));
    }
    const auto before = given.begin() + static_cast<std::ptrdiff_t>(i);
    if (std::find(given.begin(), before, head) != before) refuse(i, head, ", which is there already");
  }
  return given;
}

}  // namespace verbatim::whisper
