// The compact history of a memory snapshot: what is added comes out again, in both directions.
#include <catch2/catch.hpp>
#include <random>

#include "cli/formats/snapshot/snapshot.h"

using cli::snapshot::Action;
using cli::snapshot::Entry;
using cli::snapshot::History;

namespace {

bool same(const Entry& a, const Entry& b) {
  return a.action == b.action && a.address == b.address && a.bytes == b.bytes && a.time_us == b.time_us &&
         a.stream == b.stream && a.stack == b.stack;
}

}  // namespace

TEST_CASE("snapshot: a history returns the entries that were added, forward and backward") {
  std::mt19937_64 random(7);
  for (const std::size_t count : {0, 1, 4095, 4096, 4097, 10'000}) {
    History history;
    std::vector<Entry> added;
    for (std::size_t i = 0; i < count; ++i) {
      Entry entry;
      entry.action = static_cast<Action>(random() % 10);
      entry.address = random() >> random() % 64;
      entry.bytes = random() >> random() % 64;
      entry.time_us = i % 5 == 0 ? cli::snapshot::kNoTime : static_cast<std::int64_t>(random());
      entry.stream = random() >> random() % 64;
      entry.stack = static_cast<std::uint32_t>(random());
      added.push_back(entry);
      history.add(entry);
    }
    REQUIRE(history.size() == count);
    std::size_t seen = 0;
    history.forward([&](std::size_t index, const Entry& entry) {
      REQUIRE(index == seen);
      CHECK(same(entry, added[seen++]));
    });
    CHECK(seen == count);
    history.backward([&](std::size_t index, const Entry& entry) {
      REQUIRE(index == --seen);
      CHECK(same(entry, added[index]));
      return seen > count / 2;
    });
    CHECK(seen == (count == 0 ? 0 : std::min(count / 2, count - 1)));
  }
}
