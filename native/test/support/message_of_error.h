#pragma once

#include <doctest/doctest.h>

#include <string>

#include "error.h"

namespace verbatim::test {

// The message of the call's EngineError, which must have this code; empty if none is thrown.
template <typename Call>
std::string message_of_error(ErrorCode code, Call call) {
  try {
    call();
  } catch (const EngineError& error) {
    CHECK(error.code() == code);
    return error.what();
  }
  return "";
}

}  // namespace verbatim::test
