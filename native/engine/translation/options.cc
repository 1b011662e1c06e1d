#include "translation/options.h"

#include "require_option.h"

namespace verbatim::translation {

void TranslationOptions::check() const {
  transformer::SearchOptions::check();
  require_option(max_input_length >= 0, "max_input_length", max_input_length, "0 or more");
  require_option(max_batch_size >= 1, "max_batch_size", max_batch_size, "1 or more");
}

}  // namespace verbatim::translation
