// What a call refuses, in the words that the user sees.
#pragma once
#include <string>

#include "cli/base/error.h"
#include "tests/unit/catch.h"

template <typename F>
std::string refusal(F&& f) {
  try {
    f();
  } catch (const cli::Error& error) {
    CHECK(error.exit() == cli::Exit::usage);
    return error.what();
  }
  return "nothing was refused";
}
