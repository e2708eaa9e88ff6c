#include <string>
#include <vector>

#include "cli/formats/inputs/paths.h"
#include "cli/formats/reading/reader.h"
#include "tests/unit/catch.h"
#include "tests/unit/cli/formats/reading/read_helpers.h"

using namespace cli;

namespace {

std::vector<std::string> names(const TestFolder& folder, const std::vector<std::string>& paths) {
  std::vector<std::string> full, found;
  for (const std::string& path : paths) full.push_back((folder.path() / path).string());
  for (const std::string& file : expand_paths(full)) found.push_back(file.substr(folder.path().string().size() + 1));
  return found;
}

}  // namespace

TEST_CASE("numbers in names order as numbers") {
  CHECK(natural_less("rank2", "rank10"));
  CHECK_FALSE(natural_less("rank10", "rank2"));
  CHECK(natural_less("rank9.json", "rank10.json"));
  CHECK(natural_less("a", "b"));
  CHECK(natural_less("a", "a1"));
  CHECK(natural_less("a01b", "a1b") != natural_less("a1b", "a01b"));
  CHECK(natural_less("a01", "a2"));
  CHECK(natural_less("x99999999999999999999998", "x99999999999999999999999"));
  CHECK_FALSE(natural_less("same7", "same7"));
}

TEST_CASE("a folder stands for the traces in it, in order") {
  const TestFolder folder;
  for (const char* name : {"rank10.json", "rank9.json", "rank1.json.gz", "run/b.ring", "run/a.ttrace", "notes.txt",
                           ".hidden.json", "x.json.tmp", ".cache/y.json", "sub/deep/z.ring"}) {
    folder.write(name, "[]");
  }
  CHECK(names(folder, {""}) == std::vector<std::string>{"rank1.json.gz", "rank9.json", "rank10.json", "run/a.ttrace",
                                                        "run/b.ring", "sub/deep/z.ring"});
}

TEST_CASE("patterns, single files and both together") {
  const TestFolder folder;
  for (const char* name : {"rank10.json", "rank9.json", "odd.txt", "run/b.ring"}) folder.write(name, "[]");
  CHECK(names(folder, {"rank*.json"}) == std::vector<std::string>{"rank9.json", "rank10.json"});
  CHECK(names(folder, {"odd.txt"}) == std::vector<std::string>{"odd.txt"});
  CHECK(names(folder, {"ru?"}) == std::vector<std::string>{"run/b.ring"});
  CHECK(names(folder, {"rank10.json", "rank*.json"}) == std::vector<std::string>{"rank10.json", "rank9.json"});
  folder.write("rank[1].json", "[]");
  CHECK(names(folder, {"rank[1].json"}) == std::vector<std::string>{"rank[1].json"});
}

TEST_CASE("what matches nothing is an error that says what to do") {
  const TestFolder folder;
  std::filesystem::create_directory(folder.path() / "empty");
  const auto message = [&](const std::string& path) { return message_of([&] { names(folder, {path}); }); };
  CHECK(message("nothing").find("nothing: no such file or directory; check the path") != std::string::npos);
  CHECK(message("*.ring").find("*.ring: no file matches this pattern") != std::string::npos);
  CHECK(message("empty").find("empty: no trace in this directory; expected *.ring") != std::string::npos);
}
