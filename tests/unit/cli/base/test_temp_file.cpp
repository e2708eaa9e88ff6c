#include "../scratch.h"
#include "cli/base/error.h"
#include "cli/base/files.h"
#include "tests/unit/catch.h"

using cli::TempFile;

TEST_CASE("temporary file: has no name, and gives back what was written") {
  const Scratch scratch;
  TempFile file(scratch.folder());
  CHECK(file.append("abc") == 0);
  CHECK(file.append("defg") == 3);
  CHECK(scratch.files() == 0);
  std::string out;
  file.read(2, 3, out);
  CHECK(out == "cde");
  CHECK_THROWS_AS(file.read(5, 3, out), cli::Error);
}

TEST_CASE("temporary file: a folder that cannot be used is named, and TMPDIR") {
  TempFile file("/no/such/folder");
  CHECK_THROWS_WITH(file.append("x"), contains_text("/no/such/folder") && contains_text("TMPDIR"));
}
