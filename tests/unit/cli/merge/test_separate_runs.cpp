#include "cli/merge/separate_runs.h"

#include <cstdint>
#include <string>
#include <vector>

#include "tests/unit/catch.h"

using namespace cli;
namespace {

constexpr std::int64_t kSecond = 1'000'000'000, kMinute = 60 * kSecond, kHour = 60 * kMinute, kDay = 24 * kHour;
constexpr std::int64_t kNow = 1'700'000'000 * kSecond;

struct Input {
  std::string source;
  std::int64_t rank, begin_ns, pid;
  std::string run_id = "", phase = "";
};

// Each lasts a second.
Catalog catalog_of(const std::vector<Input>& inputs) {
  Catalog catalog;
  for (const Input& input : inputs) {
    Process p;
    p.source = input.source;
    p.rank = input.rank;
    p.pid = input.pid;
    p.run_id = input.run_id;
    p.phase = input.phase;
    p.first_ns = input.begin_ns;
    p.last_ns = input.begin_ns + kSecond;
    catalog.add_process(p);
  }
  return catalog;
}

std::string runs_of(const std::vector<Input>& inputs) {
  const Catalog catalog = catalog_of(inputs);
  std::string out;
  for (const auto& run : separate_runs(catalog)) {
    for (const ProcessId id : run) out += catalog.processes[id].source;
    out += " ";
  }
  return out;
}

}  // namespace

TEST_CASE("separate runs: processes of unknown rank that a clock's error cannot bring together") {
  CHECK(runs_of({{"a", -1, kNow, 1}, {"b", -1, kNow + kSecond / 2, 2}}) == "ab ");
  CHECK(runs_of({{"a", -1, kNow, 1}, {"b", -1, kNow + 4 * kMinute, 2}}) == "ab ");
  CHECK(runs_of({{"a", -1, kNow, 1}, {"b", -1, kNow + 6 * kMinute, 2}}) == "a b ");
  CHECK(runs_of({{"b", -1, kNow + 6 * kMinute, 2}, {"a", -1, kNow, 1}}) == "a b ");
  CHECK(runs_of({{"a", -1, kNow, -1}, {"b", 0, kNow + kDay, 2}}) == "a b ");
  CHECK(runs_of({{"a", -1, kNow, 1}, {"b", -1, kNow + 4 * kMinute, 2}, {"c", -1, kNow + 8 * kMinute, 3}}) == "abc ");
}

TEST_CASE("separate runs: ranks that were profiled one after the other are of one run, those of another day are not") {
  CHECK(runs_of({{"a", 0, kNow, 1}, {"b", 1, kNow + 50 * kMinute, 2}}) == "ab ");
  CHECK(runs_of({{"a", 0, kNow, 1}, {"b", 1, kNow + 2 * kHour, 2}}) == "a b ");
  CHECK(runs_of({{"a", 0, kNow, 1}, {"b", 1, kNow, 2}, {"c", 2, kNow + 660 * kDay, 1}, {"d", 3, kNow + 660 * kDay, 2}}) == "ab cd ");
}

TEST_CASE("separate runs: files of one process, phases of a rank, and recordings with one run id belong together") {
  CHECK(runs_of({{"a", -1, kNow, 7}, {"b", -1, kNow + 50 * kMinute, 7}}) == "ab ");
  CHECK(runs_of({{"a", -1, kNow, 7}, {"b", -1, kNow + 2 * kHour, 7}}) == "a b ");
  CHECK(runs_of({{"a", 0, kNow, 7, "", "init"}, {"b", 0, kNow + 20 * kHour, 7, "", "eval"}, {"c", 1, kNow + 20 * kHour, 8}}) == "abc ");
  CHECK(runs_of({{"a", 0, kNow, 1, "job"}, {"b", 1, kNow + 660 * kDay, 2, "job"}, {"c", -1, kNow, 3}}) == "acb ");
}

TEST_CASE("separate runs: a clock that was never set says nothing next to one that was; without times there is nothing to say") {
  CHECK(runs_of({{"a", 0, 100 * kSecond, 1}, {"b", 1, kNow, 2}}) == "b ");
  CHECK(separate_runs_text(catalog_of({{"a", 0, 100 * kSecond, 1}, {"b", 1, kNow, 2}})).empty());
  CHECK(runs_of({{"a", 0, 100 * kSecond, 1}, {"b", 1, 660 * kDay, 2}}) == "a b ");
  Catalog none;
  none.add_process({});
  none.add_process({});
  CHECK(separate_runs(none).empty());
  CHECK(separate_runs_text(none).empty());
}

TEST_CASE("separate runs: the message names both, when they began, and what to do") {
  CHECK_THAT(separate_runs_text(catalog_of({{"old run.json", -1, kNow, 1}, {"new.json", -1, kNow + 20 * kHour + kSecond, 2}})),
             contains_text("2 unrelated runs") && contains_text("old run.json, from 2023-11-14 22:13:20 UTC") &&
                 contains_text("new.json, from 2023-11-15 18:13:21 UTC, which begins 20.0 h after") && contains_text("`tracetool diff 'old run.json' new.json`"));
  CHECK_THAT(separate_runs_text(catalog_of({{"a", 0, kNow, 1}, {"b", 1, kNow, 2}, {"c", 0, kNow + kDay, 3}, {"d", -1, kNow + 9 * kDay, 4}})),
             contains_text("3 unrelated runs") && contains_text("a and 1 more, from") && contains_text("`tracetool diff A c`"));
}
