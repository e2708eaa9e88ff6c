#include <filesystem>

#include "../scratch.h"
#include "cli/symbols/code_file.h"
#include "tests/unit/catch.h"

using namespace cli;

TEST_CASE("symbols: an address without a name is shown in its file", "[symbols]") {
  CHECK(address_text("/usr/lib/libcuda.so.1", 0x1234) == "libcuda.so.1+0x1234");
  CHECK(address_text("plain", 0) == "plain+0x0");
  CHECK(address_text("", 0x7fff12345678) == "0x7fff12345678");
}

TEST_CASE("symbols: files are looked for at the path, then in directories, by path, name and build id", "[symbols]") {
  const Scratch scratch;
  const std::string id("\xab\x01\xff", 3);
  CHECK(hex_text(id) == "ab01ff");
  for (const char* folder : {"root/usr/lib", "sent/.build-id/ab"})
    std::filesystem::create_directories(scratch.path(folder));
  for (const char* file : {"liba.so", "root/usr/lib/liba.so", "sent/liba.so", "sent/.build-id/ab/01ff.debug"})
    write_file(scratch.path(file), "x");
  using Paths = std::vector<std::string>;
  const std::vector<std::string> directories{scratch.path("root"), scratch.path("sent"), scratch.path("none")};
  CHECK(code_file_candidates({scratch.path("liba.so"), ""}, {}) == Paths{scratch.path("liba.so")});
  CHECK(code_file_candidates({"/usr/lib/liba.so", id}, directories) ==
        Paths{scratch.path("root/usr/lib/liba.so"), scratch.path("sent/liba.so"),
              scratch.path("sent/.build-id/ab/01ff.debug")});
  CHECK(code_file_candidates({"liba.so", ""}, {}).empty());  // of no directory that is known
  CHECK(code_file_candidates({"", ""}, {}).empty());
  CHECK(code_file_candidates({scratch.folder(), ""}, {}).empty());  // a directory does not count
  CHECK(code_file_candidates({"/dev/zero", ""}, {}).empty());
}
