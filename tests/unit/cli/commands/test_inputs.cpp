#include "../scratch.h"
#include "cli/base/error.h"
#include "cli/commands/inputs.h"
#include "tests/unit/catch.h"

using namespace cli;
TEST_CASE("inputs: --rank N=FILE") {
  CHECK(parse_rank("3=traces/a=b.ring").path == "traces/a=b.ring");
  CHECK(parse_rank("3=x").rank == 3);
  for (const char* wrong : {"", "3", "=x", "3=", "-1=x", "a=x", "3x=y", "99999999999999999999=x"}) {
    CHECK_THROWS_WITH(parse_rank(wrong), contains_text("N=FILE"));
  }
}

TEST_CASE("inputs: each file once, --rank adds or renames") {
  const Scratch scratch;
  write_file(scratch.path("a.json"), "{}");
  write_file(scratch.path("b.json"), "{}");
  const std::string a = scratch.path("a.json"), b = scratch.path("b.json");
  const auto inputs = find_inputs({{a, scratch.folder() + "/./a.json"}, {"5=" + a, "6=" + b}, {}});
  REQUIRE(inputs.size() == 2);
  CHECK((inputs[0].path == a && inputs[0].rank == 5));
  CHECK((inputs[1].path == b && inputs[1].rank == 6));
  CHECK_THROWS_WITH(find_inputs({}), contains_text("missing traces"));
}

TEST_CASE("inputs: an output never replaces an input") {
  const Scratch scratch;
  write_file(scratch.path("a.json"), "{}");
  CHECK_THROWS_WITH(refuse_input_as_output({{scratch.path("a.json"), {}}},
                                           scratch.folder() + "/../" +
                                               std::filesystem::path(scratch.folder()).filename().string() + "/a.json"),
                    contains_text("also an input"));
  refuse_input_as_output({{scratch.path("a.json"), {}}}, scratch.path("b.json"));
  refuse_input_as_output({{scratch.path("a.json"), {}}}, "-");
}

TEST_CASE("inputs: a name in the working directory, never the input itself") {
  CHECK(output_name("out/run.ttrace", ".json.gz") == "run.json.gz");
  CHECK(output_name("traces/", ".json.gz") == "traces.json.gz");
  CHECK(output_name("a/worker0.pt.trace.json.gz", ".json.gz") == "worker0.json.gz");
  CHECK(output_name("a/rank0.json.gz", ".json.gz") == "rank0.json.gz");
  CHECK(output_name("rank0.json.gz", ".json.gz") == "rank0.export.json.gz");
  CHECK(output_name("-", ".json") == "trace.json");
  CHECK(output_name(".", ".json") == "trace.json");
  CHECK(output_name("/", ".json") == "trace.json");
}

TEST_CASE("inputs: a path is of one rank, links to one file may be several") {
  const Scratch scratch;
  const std::string a = scratch.path("a.json"), link = scratch.path("link.json");
  write_file(a, "{}");
  std::filesystem::create_symlink(a, link);
  CHECK_THROWS_WITH(find_inputs({{}, {"3=" + a, "4=" + a}, {}}),
                    contains_text("--rank 3") && contains_text("--rank 4"));
  CHECK(find_inputs({{}, {"3=" + a, "3=" + a}, {}}).size() == 1);
  const auto two = find_inputs({{}, {"3=" + a, "4=" + link}, {}});
  REQUIRE(two.size() == 2);
  CHECK((two[0].rank == 3 && two[1].rank == 4));
}
