#include <CLI/CLI.hpp>

#include "cli/commands/run_program.h"
#include "tests/unit/catch.h"

using namespace cli;
using Words = std::vector<std::string>;

TEST_CASE("record: its options end where the program's words begin") {
  CLI::App app("", "record");
  std::string text;
  bool flag = false;
  app.add_option("-o,--output", text);
  app.add_flag("--verbose", flag);
  const auto marked = [&](const Words& words) { return mark_command(app, words); };
  CHECK(marked({"record", "echo", "hi", "--verbose", "-o", "x"}) ==
        Words{"record", "--", "echo", "hi", "--verbose", "-o", "x"});
  CHECK(marked({"record", "-o", "x", "--verbose", "echo", "--", "-o"}) ==
        Words{"record", "-o", "x", "--verbose", "--", "echo", "--", "-o"});
  CHECK(marked({"record", "--output=x", "-oy", "--frob", "echo"}) ==
        Words{"record", "--output=x", "-oy", "--frob", "--", "echo"});
  for (const Words& same : {Words{}, Words{"record"}, Words{"record", "-o"}, Words{"record", "-o", "x"},
                            Words{"record", "--", "echo", "-o"}, Words{"merge", "a", "-o", "b"}}) {
    CHECK(marked(same) == same);
  }
  CHECK(marked({"record", "", "a"}) == Words{"record", "--", "", "a"});
}
