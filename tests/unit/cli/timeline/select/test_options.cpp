// --ranks, --steps, --time, --kinds and --min-dur as people write them.
#include <string>

#include "cli/base/error.h"
#include "cli/timeline/select/ranges.h"
#include "cli/timeline/select/selector.h"
#include "cli/trace/event.h"
#include "refusal.h"
#include "tests/unit/catch.h"

using namespace cli;

namespace {

bool says(const std::string& text, std::string_view what) { return text.find(what) != text.npos; }

}  // namespace

TEST_CASE("ranges of numbers: single ones, lists, open ends") {
  const NumberRanges list("--ranks", "0-3,7,10-");
  for (const std::int64_t in : {0, 1, 3, 7, 10, 11, 1'000'000}) CHECK(list.holds(in));
  for (const std::int64_t out : {-1, 4, 6, 8, 9}) CHECK(!list.holds(out));
  CHECK(NumberRanges("--steps", "-2").holds(0));
  CHECK(!NumberRanges("--steps", "-2").holds(3));
  CHECK(NumberRanges("--steps", "5").holds(5));
}

TEST_CASE("ranges of numbers: what is none is named") {
  for (const char* text :
       {"", "-", "3-1", "a", "1,", ",1", "1-2-3", "1.5", "-1-2", "99999999999999999999", "0x1", " 1"}) {
    INFO(text);
    CHECK(says(refusal([&] { NumberRanges("--ranks", text); }), "--ranks"));
  }
  CHECK(says(refusal([] { NumberRanges("--steps", "1,b-2,3"); }), "\"b-2\" is not a range"));
}

TEST_CASE("lengths of time are exact") {
  CHECK(parse_duration("5us") == 5'000);
  CHECK(parse_duration("1.5s") == 1'500'000'000);
  CHECK(parse_duration("0.000000001s") == 1);
  CHECK(parse_duration("0.1us") == 100);
  CHECK(parse_duration(".5ms") == 500'000);
  CHECK(parse_duration("7.ms") == 7'000'000);
  CHECK(parse_duration("3ns") == 3);
  CHECK(parse_duration("1.9ns") == 1);
  CHECK(parse_duration("2min") == 120'000'000'000);
  CHECK(parse_duration("1.5h") == 5'400'000'000'000);
  CHECK(parse_duration("9223372036854775807ns") == INT64_MAX);
  for (const char* text : {"", "5", "us", ".us", "1.2.3s", "5 us", "-1us", "1e3us", "5US", "9223372036854775808ns",
                           "9999999999h", "1s2"}) {
    INFO(text);
    CHECK(!parse_duration(text));
  }
}

TEST_CASE("ranges of time: one unit for both, open ends") {
  const auto is = [](const char* text, std::int64_t from, std::int64_t to) {
    const TimeRange range = time_range_option("--time", text);
    INFO(text);
    CHECK(range.from_ns == from);
    CHECK(range.to_ns == to);
  };
  is("1.5s-2s", 1'500'000'000, 2'000'000'000);
  is("1.5-2s", 1'500'000'000, 2'000'000'000);
  is("300ms-1s", 300'000'000, 1'000'000'000);
  is("300ms-", 300'000'000, INT64_MAX);
  is("-2s", 0, 2'000'000'000);
  for (const char* text : {"", "-", "5ms", "2s-1s", "1-2", "1s-2", "1s-1s", "a-b", "1s-2s-3s"}) {
    INFO(text);
    CHECK(says(refusal([&] { time_range_option("--time", text); }), "--time"));
  }
}

TEST_CASE("kinds: every name; an unknown word is named with those that there are") {
  const KindSet kinds = kinds_option("--kinds", "kernel,nccl,python_function");
  CHECK(kinds.count() == 3);
  CHECK(kinds.test(static_cast<std::size_t>(Kind::nccl)));
  for (const KindInfo& row : kKinds) CHECK(kinds_option("--kinds", row.name).count() == 1);
  const std::string message = refusal([] { kinds_option("--kinds", "kernel,kernels"); });
  CHECK(says(message, "no kind \"kernels\""));
  CHECK(says(message, "kernel, memcpy, memset"));
  CHECK(says(refusal([] { kinds_option("--kinds", "kernel,"); }), "no kind \"\""));
}

TEST_CASE("number ranges: what was asked for and is not there") {
  const std::set<std::int64_t> there{0, 1, 2, 5, 7};
  CHECK_FALSE(NumberRanges("--ranks", "0-2,5,7").first_missing(there));
  CHECK(NumberRanges("--ranks", "0-3").first_missing(there) == 3);
  CHECK(NumberRanges("--ranks", "1,6").first_missing(there) == 6);
  CHECK(NumberRanges("--ranks", "7-9000000000000000000").first_missing(there) == 8);
  CHECK_FALSE(NumberRanges("--ranks", "6-").first_missing(there));
  CHECK(NumberRanges("--ranks", "8-").first_missing(there) == 8);
  CHECK(NumberRanges("--ranks", "0").first_missing({}) == 0);
}
