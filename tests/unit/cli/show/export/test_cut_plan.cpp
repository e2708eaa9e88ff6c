#include <algorithm>

#include "cli/show/export/write_file.h"
#include "tests/unit/catch.h"

using namespace cli;

namespace {

// An event of 10 bytes every 5 ns from 100 on, after a head of `head` bytes.
std::vector<std::int64_t> cuts(std::uint64_t limit, std::vector<std::int64_t> steps, int events,
                               std::uint64_t head = 0) {
  CutPlan plan(limit, std::move(steps));
  std::uint64_t bytes = 0;
  for (int i = 0; i < events; ++i) {
    plan.note(100 + 5 * i, bytes);
    bytes += 10 + (i == 0 ? head : 0);
  }
  std::vector<std::int64_t> at;
  for (const CutPlan::Cut& cut : plan.cuts(bytes)) at.push_back(cut.at_ns);
  return at;
}

}  // namespace

TEST_CASE("cuts: as late as the limit allows") {
  const std::vector<std::int64_t> at = cuts(1'000, {}, 1'000);
  REQUIRE(at.size() >= 10);
  CHECK(at.size() <= 11);
  CHECK(std::is_sorted(at.begin(), at.end()));
  for (std::size_t i = 1; i < at.size(); ++i) CHECK((at[i] - at[i - 1]) / 5 * 10 <= 1'000);
}

TEST_CASE("cuts: at the last step that begins in the second half") {
  CHECK(cuts(1'000, {50, 400, 450, 1'000}, 150) == std::vector<std::int64_t>{450});
  // Steps that are too long for a part are cut within.
  const std::vector<std::int64_t> at = cuts(1'000, {110, 1'100}, 300);
  CHECK(at.size() >= 3);
  CHECK(std::find(at.begin(), at.end(), 1'100) == at.end());
}

TEST_CASE("cuts: every part has the head") {
  const std::vector<std::int64_t> at = cuts(1'000, {}, 300, 400);
  for (std::size_t i = 1; i < at.size(); ++i) CHECK((at[i] - at[i - 1]) / 5 * 10 + 400 <= 1'000);
  CHECK(at.size() >= 5);
}

TEST_CASE("cuts: of a format that compresses") {
  CutPlan plan(1'000, {});
  for (int i = 0; i <= 1'000; ++i) plan.note(100 + 5 * i, 10 * i);  // 10,000 bytes, of which 2,500 stay
  CHECK(plan.cuts(2'500).size() == 2);
}

TEST_CASE("cuts: none where it fits, none at one moment, progress where nothing fits") {
  CHECK(cuts(10'000, {}, 100).empty());
  CutPlan moment(100, {});
  for (std::uint64_t i = 0; i < 100; ++i) moment.note(7, i * 10);
  CHECK(moment.cuts(1'000).empty());
  const std::vector<std::int64_t> at = cuts(5, {}, 100);  // less than one event
  CHECK(at.size() >= 98);
  CHECK(std::adjacent_find(at.begin(), at.end()) == at.end());
}
