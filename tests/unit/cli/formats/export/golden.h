// Compares text with a file of tests/golden. TRACETOOL_REGOLD=1 writes the files instead: read the diff.
#pragma once
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include "tests/unit/catch.h"

namespace golden {

// The build gives the folder of the tests; without it this file's own name is the guide.
inline std::string path(const std::string& name) {
  const char* tests = std::getenv("TRACETOOL_TESTS");
  const std::string here = __FILE__;
  return (tests != nullptr ? std::string(tests) + '/' : here.substr(0, here.rfind("unit/"))) + "golden/" + name;
}

inline std::string read(const std::string& name) {
  std::ifstream file(path(name), std::ios::binary);
  INFO("cannot open " << path(name));
  REQUIRE(file.is_open());
  return {std::istreambuf_iterator<char>(file), {}};
}

inline void compare(const std::string& name, const std::string& text) {
  if (std::getenv("TRACETOOL_REGOLD") != nullptr) std::ofstream(path(name), std::ios::binary) << text;
  INFO(name);
  CHECK(text == read(name));
}

}  // namespace golden
