#include "cli/base/terminal.h"
#include "tests/unit/catch.h"

TEST_CASE("table: columns are aligned for characters of any width, numbers to the right") {
  cli::Table table({"run", "size"});
  table.add({"\u6771\u4eac", "9"});
  table.add({"e\u0301tude", "-1.5"});
  CHECK(table.text() ==
        "run    size\n"
        "\u6771\u4eac      9\n"
        "e\u0301tude  -1.5\n");
}
