// Where reading goes on after damage, and how much may be judged to find that out.
#include <string>

#include "../../catch.h"
#include "cli/read/json_resume.h"
#include "read_helpers.h"

using namespace cli;

namespace {

constexpr std::size_t kAll = 1 << 30;  // more than can be left

// Where the search ends that begins with all spent and `owed` bytes owed.
std::uint64_t found_at(const std::string& text, std::size_t owed) {
  Window window(std::make_unique<TextSource>(text), 1 << 20);
  window.more();
  JsonEffort effort;
  effort.earn_until(0);
  while (!effort.is_spent()) effort.spend(1 << 10);
  effort.spend(owed);
  CHECK(resume_events(window, 1, "", effort) == Resumed::event);
  return window.offset();
}

}  // namespace

TEST_CASE("effort is earned by bytes that are passed, and is bounded") {
  JsonEffort effort;
  CHECK_FALSE(effort.is_spent());
  effort.spend(kAll);
  CHECK(effort.is_spent());
  effort.earn_until(1000);
  CHECK(effort.is_spent());
  effort.earn_until(std::uint64_t{1} << 40);
  CHECK_FALSE(effort.is_spent());
  effort.spend(kAll);
  CHECK(effort.is_spent());
}

TEST_CASE("an event is not looked for while more was judged than the file has paid for") {
  const std::string event = R"(,{"ph":"X","ts":1,"dur":1})";
  std::string text = "{";
  while (text.size() < 4000) text += event;
  const std::uint64_t first = found_at(text, 0), later = found_at(text, 16'000), much_later = found_at(text, 32'000);
  CHECK(first <= 2 + event.size());
  CHECK(later >= 1000);
  CHECK(later <= 1000 + event.size());
  CHECK(much_later >= 2000);
  CHECK(much_later <= 2000 + event.size());
  CHECK(text.compare(later, 6, event, 1, 6) == 0);
}
