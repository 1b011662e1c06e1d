#include "speech/utf8.h"

#include <doctest/doctest.h>

namespace verbatim {

TEST_CASE("well-formed text stays as it is") {
  for (const char* text : {"", "plain", "naïve — “façade”", "你好", "😀", "\xED\x9F\xBF", "\xF4\x8F\xBF\xBF"}) {
    CHECK(valid_utf8(text) == text);
  }
}

TEST_CASE("bytes that belong to no character are left out") {
  CHECK(valid_utf8("a\xE4\xBD") == "a");            // cut at the end
  CHECK(valid_utf8("\xA0 b") == " b");              // cut at the start
  CHECK(valid_utf8("x\xC3y") == "xy");              // cut in the middle
  CHECK(valid_utf8("\xC0\xAF\xE0\x80\xAF") == "");  // overlong
  CHECK(valid_utf8("\xED\xA0\x80") == "");          // surrogate
  CHECK(valid_utf8("\xF4\x90\x80\x80!") == "!");    // above U+10FFFF
  CHECK(valid_utf8("\xFF\xFE ok") == " ok");
}

}  // namespace verbatim
