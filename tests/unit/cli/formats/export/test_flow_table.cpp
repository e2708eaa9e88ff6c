#include <random>
#include <set>

#include "cli/formats/export/flows.h"
#include "tests/unit/catch.h"

using cli::FlowStart;
using cli::FlowTable;

namespace {

struct Step {
  char what;  // r, d: runtime or driver call; s: flow start; e: end
  std::uint64_t id;
};

FlowStart role(char what) {
  return what == 'r' ? FlowStart::runtime : what == 'd' ? FlowStart::driver : FlowStart::event;
}

// The flow drawn at each step (0: none), after a first pass over the same steps.
std::vector<std::uint64_t> replay(const std::vector<Step>& steps) {
  FlowTable table;
  for (const Step& s : steps) s.what == 'e' ? table.note_end(3, s.id) : table.note_start(3, s.id, role(s.what));
  std::vector<std::uint64_t> flows;
  for (const Step& s : steps) {
    flows.push_back(s.what == 'e' ? table.end(3, s.id).flow_id : table.start(3, s.id, role(s.what)));
  }
  return flows;
}

}  // namespace

TEST_CASE("a launch and its work") {
  const auto a = replay({{'r', 5}, {'e', 5}});
  CHECK(a[0] != 0);
  CHECK(a[1] == a[0]);
}

TEST_CASE("one graph launch, many works") {
  const auto a = replay({{'r', 5}, {'e', 5}, {'e', 5}, {'e', 5}});
  CHECK(a[0] != 0);
  CHECK(a == std::vector<std::uint64_t>(4, a[0]));
}

TEST_CASE("one-ended: nothing is drawn") {
  CHECK(replay({{'r', 5}}) == std::vector<std::uint64_t>{0});
  CHECK(replay({{'e', 5}}) == std::vector<std::uint64_t>{0});
  CHECK(replay({{'s', 5}, {'e', 6}}) == std::vector<std::uint64_t>{0, 0});
}

TEST_CASE("the runtime call begins the arrow, not the driver call in it") {
  const auto both = replay({{'r', 5}, {'d', 5}, {'e', 5}});
  CHECK(both[0] != 0);
  CHECK(both[1] == 0);
  CHECK(both[2] == both[0]);
  const auto work_in_between = replay({{'r', 5}, {'e', 5}, {'d', 5}, {'e', 5}});
  CHECK(work_in_between[2] == 0);
  CHECK(work_in_between[3] == work_in_between[0]);
  const auto driver = replay({{'d', 5}, {'d', 5}, {'e', 5}});
  CHECK(driver[0] != 0);
  CHECK(driver[1] == 0);
}

TEST_CASE("an end before its start knows that the start will come") {
  FlowTable table;
  table.note_end(0, 9);
  table.note_start(0, 9, FlowStart::runtime);
  const FlowTable::End early = table.end(0, 9);
  CHECK(early.flow_id != 0);
  CHECK_FALSE(early.started);
  CHECK(table.start(0, 9, FlowStart::runtime) == early.flow_id);
  CHECK(table.end(0, 9).started);
}

TEST_CASE("an id that is used again is another arrow") {
  const auto a = replay({{'s', 5}, {'e', 5}, {'s', 5}, {'s', 5}, {'e', 5}, {'e', 5}});
  CHECK(a[0] != 0);
  CHECK(a[1] == a[0]);
  CHECK(a[2] == 0);  // nothing ends it
  CHECK(a[3] != 0);
  CHECK(a[3] != a[0]);
  CHECK(a[4] == a[3]);
  CHECK(a[5] == a[3]);
  const auto wrapped = replay({{'r', 5}, {'d', 5}, {'e', 5}, {'r', 5}, {'d', 5}, {'e', 5}});
  CHECK(wrapped[0] != 0);
  CHECK(wrapped[1] == 0);
  CHECK(wrapped[3] != 0);
  CHECK(wrapped[3] != wrapped[0]);
  CHECK(wrapped[4] == 0);
  CHECK(wrapped[5] == wrapped[3]);
}

TEST_CASE("no two arrows share an id, over groups and over ids of any size", "[property]") {
  std::mt19937_64 random(1);
  FlowTable table;
  std::vector<std::pair<FlowTable::Group, std::uint64_t>> keys;
  for (int i = 0; i < 20'000; ++i) {
    keys.emplace_back(random() % 9, i % 2 == 0 ? random() % 5000 : random() >> (random() % 60));
  }
  std::set<std::pair<FlowTable::Group, std::uint64_t>> distinct(keys.begin(), keys.end());
  for (const auto& [group, id] : keys) table.note_start(group, id, FlowStart::event), table.note_end(group, id);
  std::set<std::uint64_t> flows;
  for (const auto& [group, id] : keys) {
    const std::uint64_t flow_id = table.start(group, id, FlowStart::event);
    REQUIRE(flow_id != 0);
    REQUIRE(flows.insert(flow_id).second);
    REQUIRE(table.end(group, id).flow_id == flow_id);
  }
  CHECK(flows.size() == keys.size());
  CHECK(distinct.size() < keys.size());  // some ids were used again
}
