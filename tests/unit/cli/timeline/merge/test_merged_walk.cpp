#include <algorithm>

#include "cli/base/error.h"
#include "cli/formats/ttrace/walk.h"
#include "collect.h"
#include "tests/case_step.h"
#include "tests/unit/catch.h"
#include "tests/unit/cli/base/no_threads.h"

using namespace cli;
using namespace cli::ttrace;

namespace {

// Fails in place of the piece with this number.
class Pieces : public PieceStream {
 public:
  explicit Pieces(std::vector<Collected> events, std::size_t fails_at = ~std::size_t{0})
      : events_(std::move(events)), fails_at_(fails_at) {}

  bool take(EventBatch& out, const PieceSize&) override {
    if (piece_++ == fails_at_) throw Error(Exit::bad_content, "broken");
    out.clear();
    for (std::size_t i = 0; i < 1 + piece_ % 7 && at_ < events_.size(); ++i, ++at_)
      out.add(events_[at_].event, events_[at_].facts);
    return out.size() != 0;
  }

 private:
  std::vector<Collected> events_;
  std::size_t fails_at_, piece_ = 0, at_ = 0;
};

void sort(std::vector<Collected>& events) {
  std::stable_sort(events.begin(), events.end(),
                   [](const Collected& a, const Collected& b) { return key_of(a.event, 0) < key_of(b.event, 0); });
}

// Many begin at once, so that ties are common.
std::vector<Collected> sorted(std::size_t count, std::uint32_t seed) {
  std::vector<Collected> events = random_events(count, seed, 50);
  sort(events);
  return events;
}

constexpr std::size_t kStreams[] = {0, 1, 2, 3, 7, 24};

std::deque<StreamGroup> one_group(StreamGroup group) {
  std::deque<StreamGroup> groups;
  groups.push_back(std::move(group));
  return groups;
}

}  // namespace

TEST_CASE("merged walk: one order, here and ahead, equal ones as the streams are") {
  for (const std::size_t count : kStreams) {
    for (const bool ahead : {false, true}) {
      StreamGroup group;
      std::vector<Collected> all;
      for (std::size_t i = 0; i < count; ++i) {
        const std::vector<Collected> events =
            sorted(i == 2 ? 0 : few(9000) / count + 300 * i, static_cast<std::uint32_t>(i));
        all.insert(all.end(), events.begin(), events.end());
        group.streams.push_back(std::make_unique<Pieces>(events));
      }
      sort(all);
      Collect seen;
      merge_streams(one_group(std::move(group)), seen, ahead);
      CHECK(seen.all == all);
    }
  }
}

TEST_CASE("merged walk: of thousands of streams few events of each are at hand") {
  struct Asked : PieceStream {
    explicit Asked(std::size_t& events) : asked(events) {}
    bool take(EventBatch&, const PieceSize& most) override {
      asked += most.events;
      return false;
    }
    std::size_t& asked;
  };
  for (const std::size_t streams : {1u, 100u, 5'000u, 30'000u, 50'000u}) {
    StreamGroup group;
    std::size_t asked = 0;
    for (std::size_t i = 0; i < streams; ++i) group.streams.push_back(std::make_unique<Asked>(asked));
    Collect seen;
    merge_streams(one_group(std::move(group)), seen, false);
    CHECK(asked >= streams * PieceSize::kFewestEvents);
    CHECK(asked <= std::max(streams * PieceSize::kFewestEvents, PieceSize::kEventsAtHand));
  }
  CHECK(PieceSize(4'000).events == PieceSize::kMostEvents);
  CHECK(PieceSize(1'000).text_bytes == PieceSize::kMostText);
  CHECK(PieceSize(1'000'000).text_bytes == PieceSize::kLeastText);
}

TEST_CASE("merged walk: groups come one after the other, some without an event, and processes end with theirs") {
  struct Ends : Collect {
    void end_of(ProcessId process) override { ends.push_back({process, all.size()}); }
    std::vector<std::pair<ProcessId, std::size_t>> ends;  // after how many events
  };
  for (const bool ahead : {false, true}) {
    std::vector<std::pair<ProcessId, std::size_t>> ends;
    std::deque<StreamGroup> groups(6);
    std::vector<Collected> all;
    for (std::size_t group = 0; group < groups.size(); ++group) {
      std::vector<Collected> of_group;
      for (std::uint32_t i = 0; i < group % 4; ++i) {
        const std::vector<Collected> events = sorted(i == 0 ? 0 : 3000, i + static_cast<std::uint32_t>(group) * 10);
        of_group.insert(of_group.end(), events.begin(), events.end());
        groups[group].streams.push_back(std::make_unique<Pieces>(events));
      }
      sort(of_group);
      all.insert(all.end(), of_group.begin(), of_group.end());
      if (group == 3) continue;  // of no one process
      groups[group].process = static_cast<ProcessId>(10 + group);
      ends.push_back({*groups[group].process, all.size()});
    }
    Ends seen;
    merge_streams(std::move(groups), seen, ahead);
    CHECK(seen.all == all);
    CHECK(seen.ends == ends);
  }
}

TEST_CASE("merged walk: read here where no thread can be started") {
  StreamGroup group;
  const std::vector<Collected> events = sorted(20'000, 5);
  group.streams.push_back(std::make_unique<Pieces>(events));
  Collect seen;
  {
    const NoThreads none;
    merge_streams(one_group(std::move(group)), seen, true);
  }
  CHECK(seen.all == events);
}

TEST_CASE("merged walk: what comes before a failure is handed on, then the failure") {
  for (const bool ahead : {false, true}) {
    StreamGroup group;
    const std::vector<Collected> events = sorted(20'000, 5);
    group.streams.push_back(std::make_unique<Pieces>(events, 3000));
    Collect seen;
    CHECK_THROWS_AS(merge_streams(one_group(std::move(group)), seen, ahead), Error);
    CHECK(seen.all.size() > 11'900);
    CHECK(std::equal(seen.all.begin(), seen.all.end(), events.begin()));
  }
}

TEST_CASE("merged walk: a sink that fails ends it") {
  struct Full : EventSink {
    void event(const Event&, const Facts&) override {
      if (++events == 5000) throw Error(Exit::cannot_open, "no room");
    }
    std::size_t events = 0;
  };
  for (const bool ahead : {false, true}) {
    StreamGroup group;
    for (std::uint32_t i = 0; i < 3; ++i) group.streams.push_back(std::make_unique<Pieces>(sorted(30'000, i)));
    Full sink;
    CHECK_THROWS_AS(merge_streams(one_group(std::move(group)), sink, ahead), Error);
    CHECK(sink.events == 5000);
  }
}
