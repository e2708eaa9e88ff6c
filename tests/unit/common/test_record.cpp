#include <set>

#include "common/record.h"
#include "tests/unit/catch.h"

using namespace trace;

TEST_CASE("every kind of record has a number, a name and a head of its own") {
  std::set<int> kinds;
  std::set<std::string_view> names;
  for_each_record([&]<typename R>(R*) {
    CHECK(kinds.insert(static_cast<int>(R::kKind)).second);
    CHECK(names.insert(R::kName).second);
    CHECK(sizeof(R) % 8 == 0);
    const R record = make_record<R>();
    CHECK(record.kind == static_cast<std::uint8_t>(R::kKind));
    CHECK((record.size_words == sizeof(R) / 8 || R::kKind == StringRecord::kKind));
    CHECK(record_name(record.kind) == R::kName);
  });
  CHECK(kinds.size() == std::tuple_size_v<AllRecords>);
  CHECK(record_name(200) == "unknown");
}

TEST_CASE("kinds 1 to 15 are definitions, 16 to 47 events") {
  for_each_record([&]<typename R>(R*) {
    const auto kind = static_cast<std::uint8_t>(R::kKind);
    CHECK((kind >= 1 && kind < kFirstEventKind + kEventKinds));
  });
  CHECK_FALSE(is_event(15));
  CHECK(is_event(16));
  CHECK(is_event(47));
  CHECK_FALSE(is_event(48));
}
