#include <algorithm>
#include <map>
#include <random>

#include "cli/formats/export/lanes.h"
#include "tests/unit/catch.h"

using cli::LaneRule;
using cli::Lanes;

namespace {

struct Slice {
  std::int64_t start, end;
};

std::vector<Slice> random_slices(unsigned seed, int count, int longest) {
  std::mt19937 random(seed);
  std::vector<Slice> slices;
  for (int i = 0; i < count; ++i) {
    const std::int64_t start = random() % 1000;
    slices.push_back({start, start + static_cast<std::int64_t>(random() % static_cast<unsigned>(longest))});
  }
  std::sort(slices.begin(), slices.end(),
            [](const Slice& a, const Slice& b) { return a.start != b.start ? a.start < b.start : a.end > b.end; });
  return slices;
}

std::map<std::size_t, std::vector<Slice>> place_all(LaneRule rule, const std::vector<Slice>& slices) {
  Lanes lanes(rule);
  std::map<std::size_t, std::vector<Slice>> placed;
  for (const Slice& s : slices) {
    const std::size_t before = lanes.size();
    const std::size_t lane = lanes.place(s.start, s.end);
    REQUIRE(lane <= before);
    REQUIRE(lane < lanes.size());
    placed[lane].push_back(s);
  }
  return placed;
}

bool disjoint(const Slice& a, const Slice& b) { return a.end <= b.start || b.end <= a.start; }
bool within(const Slice& in, const Slice& out) { return out.start <= in.start && in.end <= out.end; }

bool all_pairs_fit(LaneRule rule, const std::vector<Slice>& members) {
  for (std::size_t i = 0; i < members.size(); ++i) {
    for (std::size_t j = i + 1; j < members.size(); ++j) {
      if (disjoint(members[i], members[j]) || (rule == LaneRule::nest && within(members[j], members[i]))) continue;
      return false;
    }
  }
  return true;
}

}  // namespace

TEST_CASE("host slices nest on one lane") {
  Lanes lanes(LaneRule::nest);
  CHECK(lanes.place(0, 100) == 0);
  CHECK(lanes.place(0, 100) == 0);
  CHECK(lanes.place(10, 50) == 0);
  CHECK(lanes.place(50, 50) == 0);
  CHECK(lanes.place(50, 90) == 0);
  CHECK(lanes.place(100, 120) == 0);
  CHECK(lanes.place(110, 130) == 1);  // overlaps without nesting
  CHECK(lanes.place(111, 120) == 0);
  CHECK(lanes.place(130, 131) == 0);
}

TEST_CASE("GPU work that overlaps at all goes apart") {
  Lanes lanes(LaneRule::apart);
  CHECK(lanes.place(0, 100) == 0);
  CHECK(lanes.place(10, 50) == 1);  // nested, and apart
  CHECK(lanes.place(20, 20) == 2);
  CHECK(lanes.place(20, 30) == 2);
  CHECK(lanes.place(50, 60) == 1);
  CHECK(lanes.place(100, 110) == 0);
}

TEST_CASE("on every lane all pairs nest or are apart, whatever the slices", "[property]") {
  for (unsigned seed = 0; seed < 60; ++seed) {
    const auto slices = random_slices(seed, 300, seed % 3 == 0 ? 4 : seed % 3 == 1 ? 40 : 900);
    for (const LaneRule rule : {LaneRule::nest, LaneRule::apart}) {
      std::size_t total = 0;
      for (const auto& [lane, members] : place_all(rule, slices)) {
        total += members.size();
        INFO("seed " << seed << ", lane " << lane);
        REQUIRE(all_pairs_fit(rule, members));
      }
      REQUIRE(total == slices.size());
    }
  }
}

TEST_CASE("work takes no more lanes than run at once", "[property]") {
  for (unsigned seed = 0; seed < 20; ++seed) {
    const auto slices = random_slices(seed, 200, 200);
    std::size_t most = 0;
    for (const Slice& a : slices) {
      most = std::max<std::size_t>(
          most, static_cast<std::size_t>(std::count_if(slices.begin(), slices.end(), [&](const Slice& b) {
            return b.start <= a.start && (a.start < b.end || b.start == a.start);
          })));
    }
    CHECK(place_all(LaneRule::apart, slices).size() <= most);
  }
}

TEST_CASE("a hundred thousand slices that all overlap take seconds at most") {
  Lanes lanes(LaneRule::nest);
  const std::int64_t count = 100'000;
  for (std::int64_t i = 0; i < count; ++i) lanes.place(i, i + count);
  CHECK(lanes.size() == static_cast<std::size_t>(count));
}

TEST_CASE("an arrow finds the slice that started last and is still there") {
  Lanes lanes(LaneRule::nest);
  CHECK_FALSE(lanes.covering(5));
  lanes.place(0, 100);
  lanes.place(10, 20);
  lanes.place(15, 30);  // lane 1
  REQUIRE(lanes.covering(17));
  CHECK(lanes.covering(17)->start == 15);
  CHECK(lanes.covering(17)->lane == 1);
  CHECK(lanes.covering(25)->start == 15);
  CHECK(lanes.covering(40)->start == 0);
  CHECK(lanes.covering(100)->end == 100);
  CHECK_FALSE(lanes.covering(101));
}
