#include "speech/whisper/alignment/pass_alignment.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string_view>
#include <vector>

namespace verbatim {

TEST_CASE("alignment: the rows of a pass are its prompt and text, and their attention shows the starts") {
  const std::vector<whisper::TokenId> text{7, 8};
  const std::vector<std::string_view> pieces{" one", "two"};
  // There is no speech at 4, 5 and 6.
  whisper::PassAlignment pass({1, 2, 3}, text, pieces, 1, {0, 1, 2, 3, 7, 8, 9, 10}, 448);
  const auto& rows = pass.request().rows;
  REQUIRE(rows.size() == 4);
  CHECK(pass.request().parents.size() == 1);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    CHECK_FALSE(rows[i].wants_logits);
    CHECK(rows[i].wants_attention == (i >= 2));
  }
  CHECK(rows[2].token == 3);
  CHECK(rows[3].token == 7);
  // A row's attention shows where the token that follows it is spoken.
  const auto look = [&](std::size_t row, std::size_t first, std::size_t last) {
    std::vector<float> weights(12, 0.001f);
    std::fill(weights.begin() + static_cast<std::ptrdiff_t>(first), weights.begin() + static_cast<std::ptrdiff_t>(last),
              0.2f);
    pass.on_attention(row, 0, weights);
  };
  look(2, 0, 4);
  look(3, 7, 11);
  CHECK(pass.starts() == std::vector<std::size_t>{0, 7, 11});
  // Only as many tokens as there are positions; the others are placed at the end of the last of these.
  const std::vector<whisper::TokenId> longer(10, 7);
  const std::vector<std::string_view> same(10, "a");
  whisper::PassAlignment cut({1, 2, 3}, longer, same, 1, {0, 1, 2, 3}, 8);
  CHECK(cut.request().rows.size() == 8);
  REQUIRE(cut.starts().size() == 11);
  CHECK(std::ranges::is_sorted(cut.starts()));
  CHECK(cut.starts()[6] == 4);
}

TEST_CASE("alignment: the positions of speech are those that it touches, or all") {
  using Positions = std::vector<std::size_t>;
  const auto of = [](const std::vector<SpeechSpan>& speech, std::size_t begin, int hundredths) {
    return whisper::positions_of_speech(speech, begin, hundredths, 5);
  };
  // 320 samples each.
  CHECK(of({{319, 321}, {1280, 1281}}, 0, 100) == Positions{0, 1, 4});
  CHECK(of({{319, 321}, {1280, 1281}}, 320, 100) == Positions{0, 3});
  CHECK(of({{319, 321}, {1280, 1281}}, 0, 8) == Positions{0, 1});
  CHECK(of({}, 0, 5) == Positions{0, 1, 2});
  CHECK(of({{6000, 7000}}, 0, 100) == Positions{0, 1, 2, 3, 4});
  CHECK(of({}, 0, 0) == Positions{0});
}

}  // namespace verbatim
