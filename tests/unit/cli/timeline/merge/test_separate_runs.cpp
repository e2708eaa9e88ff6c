#include <cstdint>
#include <string>
#include <vector>

#include "cli/timeline/merge/runs.h"
#include "tests/unit/catch.h"

using namespace cli;
namespace {

constexpr std::int64_t kASecond = 1'000'000'000, kAMinute = 60 * kASecond, kAnHour = 60 * kAMinute,
                       kADay = 24 * kAnHour;
constexpr std::int64_t kBegun = 1'700'000'000 * kASecond;

struct RunInput {
  std::string source;
  std::int64_t rank, begin_ns, pid;
  std::string run_id = "", phase = "";
};

// Each lasts a second.
Catalog catalog_of_runs(const std::vector<RunInput>& inputs) {
  Catalog catalog;
  for (const RunInput& input : inputs) {
    Process p;
    p.source = input.source;
    p.rank = input.rank;
    p.pid = input.pid;
    p.run_id = input.run_id;
    p.phase = input.phase;
    p.first_ns = input.begin_ns;
    p.last_ns = input.begin_ns + kASecond;
    catalog.add_process(p);
  }
  return catalog;
}

std::string runs_found(const std::vector<RunInput>& inputs) {
  const Catalog catalog = catalog_of_runs(inputs);
  std::string out;
  for (const auto& run : separate_runs(catalog)) {
    for (const ProcessId id : run) out += catalog.processes[id].source;
    out += " ";
  }
  return out;
}

}  // namespace

TEST_CASE("separate runs: processes of unknown rank that a clock's error cannot bring together") {
  CHECK(runs_found({{"a", -1, kBegun, 1}, {"b", -1, kBegun + kASecond / 2, 2}}) == "ab ");
  CHECK(runs_found({{"a", -1, kBegun, 1}, {"b", -1, kBegun + 4 * kAMinute, 2}}) == "ab ");
  CHECK(runs_found({{"a", -1, kBegun, 1}, {"b", -1, kBegun + 6 * kAMinute, 2}}) == "a b ");
  CHECK(runs_found({{"b", -1, kBegun + 6 * kAMinute, 2}, {"a", -1, kBegun, 1}}) == "a b ");
  CHECK(runs_found({{"a", -1, kBegun, -1}, {"b", 0, kBegun + kADay, 2}}) == "a b ");
  CHECK(runs_found({{"a", -1, kBegun, 1}, {"b", -1, kBegun + 4 * kAMinute, 2}, {"c", -1, kBegun + 8 * kAMinute, 3}}) ==
        "abc ");
}

TEST_CASE("separate runs: ranks that were profiled one after the other are of one run, those of another day are not") {
  CHECK(runs_found({{"a", 0, kBegun, 1}, {"b", 1, kBegun + 50 * kAMinute, 2}}) == "ab ");
  CHECK(runs_found({{"a", 0, kBegun, 1}, {"b", 1, kBegun + 2 * kAnHour, 2}}) == "a b ");
  CHECK(runs_found({{"a", 0, kBegun, 1},
                    {"b", 1, kBegun, 2},
                    {"c", 2, kBegun + 660 * kADay, 1},
                    {"d", 3, kBegun + 660 * kADay, 2}}) == "ab cd ");
}

TEST_CASE("separate runs: files of one process, phases of a rank, and recordings with one run id belong together") {
  CHECK(runs_found({{"a", -1, kBegun, 7}, {"b", -1, kBegun + 50 * kAMinute, 7}}) == "ab ");
  CHECK(runs_found({{"a", -1, kBegun, 7}, {"b", -1, kBegun + 2 * kAnHour, 7}}) == "a b ");
  CHECK(runs_found({{"a", 0, kBegun, 7, "", "init"},
                    {"b", 0, kBegun + 20 * kAnHour, 7, "", "eval"},
                    {"c", 1, kBegun + 20 * kAnHour, 8}}) == "abc ");
  CHECK(runs_found({{"a", 0, kBegun, 1, "job"}, {"b", 1, kBegun + 660 * kADay, 2, "job"}, {"c", -1, kBegun, 3}}) ==
        "acb ");
}

TEST_CASE(
    "separate runs: a clock that was never set says nothing next to one that was; without times there is nothing to say") {
  CHECK(runs_found({{"a", 0, 100 * kASecond, 1}, {"b", 1, kBegun, 2}}) == "b ");
  CHECK(separate_runs_text(catalog_of_runs({{"a", 0, 100 * kASecond, 1}, {"b", 1, kBegun, 2}})).empty());
  CHECK(runs_found({{"a", 0, 100 * kASecond, 1}, {"b", 1, 660 * kADay, 2}}) == "a b ");
  Catalog none;
  none.add_process({});
  none.add_process({});
  CHECK(separate_runs(none).empty());
  CHECK(separate_runs_text(none).empty());
}

TEST_CASE("separate runs: the message names both, when they began, and what to do") {
  CHECK_THAT(separate_runs_text(catalog_of_runs(
                 {{"old run.json", -1, kBegun, 1}, {"new.json", -1, kBegun + 20 * kAnHour + kASecond, 2}})),
             contains_text("2 unrelated runs") && contains_text("old run.json, from 2023-11-14 22:13:20 UTC") &&
                 contains_text("new.json, from 2023-11-15 18:13:21 UTC, which begins 20.0 h after") &&
                 contains_text("`tracetool diff 'old run.json' new.json`"));
  CHECK_THAT(
      separate_runs_text(catalog_of_runs(
          {{"a", 0, kBegun, 1}, {"b", 1, kBegun, 2}, {"c", 0, kBegun + kADay, 3}, {"d", -1, kBegun + 9 * kADay, 4}})),
      contains_text("3 unrelated runs") && contains_text("a and 1 more, from") &&
          contains_text("`tracetool diff A c`"));
}
