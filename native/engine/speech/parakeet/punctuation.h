#pragma once

#include <string_view>

namespace verbatim::parakeet {

// Whether a SentencePiece piece is a single punctuation mark, with or without the space before it. The marks are
// whisper.cpp's.
constexpr bool is_punctuation(std::string_view piece) {
  constexpr std::string_view kSpace = "\xE2\x96\x81";
  if (piece.starts_with(kSpace)) {
    piece.remove_prefix(kSpace.size());
  } else if (piece.starts_with('_')) {
    piece.remove_prefix(1);
  }
  constexpr std::string_view kMarks = ".,!?;:'\"-()[]{}";
  return piece.size() == 1 && kMarks.find(piece.front()) != std::string_view::npos;
}

}  // namespace verbatim::parakeet
