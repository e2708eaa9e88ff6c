// The corpus has the current format versions: a file refused for its version would keep a fuzzer from passing that check.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "cli/formats/reading/reader.h"
#include "cli/formats/ttrace/file.h"
#include "tests/unit/catch.h"

using namespace cli;
using namespace cli::ttrace;

namespace {

std::filesystem::path tests_folder() {
  const char* tests = std::getenv("TRACETOOL_TESTS");
  REQUIRE(tests != nullptr);
  return tests;
}

struct CountingSink : EventSink {
  void event(const Event&, const Facts&) override { ++events; }
  std::uint64_t events = 0;
};

}  // namespace

TEST_CASE("fuzz corpus: events are read of every whole file", "[read]") {
  std::size_t files = 0;
  for (const char* kind : {"kineto", "merged", "ring"}) {
    for (const auto& entry : std::filesystem::directory_iterator(tests_folder() / "fuzz/corpus" / kind)) {
      if (entry.path().extension().empty()) continue;  // a part of an event
      INFO(entry.path().string());
      Catalog catalog;
      CountingSink sink;
      CHECK_NOTHROW(open_trace(entry.path().string(), {1})->read(catalog, sink));
      CHECK(sink.events > 0);
      ++files;
    }
  }
  CHECK(files >= 30);
}

TEST_CASE("merged files: docs/ttrace.md has their version", "[read]") {
  std::ifstream page(tests_folder() / "../docs/ttrace.md");
  const std::string text{std::istreambuf_iterator<char>(page), {}};
  const std::string version = std::to_string(kMergedVersion);
  CHECK(text.starts_with("# Merged files (`.ttrace`), format " + version + "\n"));
  CHECK(text.find("u32 version (" + version + ")") != text.npos);
}
