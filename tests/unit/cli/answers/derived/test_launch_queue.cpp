#include <random>
#include <unordered_map>

#include "cli/answers/derived/device_tracks.h"
#include "cli/timeline/gpu/launch_queue.h"
#include "derived_tracks.h"
#include "tests/unit/catch.h"

using namespace cli;

namespace {

struct Queue {
  DerivedTracks tracks;
  CounterTrack track{TrackOut{&tracks, 0, 0}, DerivedTrack::queue_length};
  LaunchQueue queue;

  std::string text() {
    std::string text;
    for (const auto& item : tracks.of(DerivedTrack::queue_length)) {
      text += std::to_string(item.start_ns) + ":" + std::to_string(static_cast<int>(item.value)) + " ";
    }
    return text;
  }
  std::string finished() {
    queue.finish();
    track.finish();
    return text();
  }
};

}  // namespace

TEST_CASE("launch queue: up at the call, down at the start of the work") {
  Queue q;
  q.queue.launch(10, 1);
  q.queue.launch(12, 1);  // the driver's call within the runtime's
  q.queue.launch(20, 2);
  q.queue.work(30, 1, q.track);
  q.queue.work(30, 1, q.track);  // the next node of the same graph
  q.queue.work(40, 2, q.track);
  q.queue.work(50, 3, q.track);  // its launch is not in the trace
  CHECK(q.finished() == "10:1 20:2 30:1 40:0 ");
}

TEST_CASE("launch queue: what never begins does not count, and holds nothing back at the end") {
  Queue q;
  q.queue.launch(10, 1);
  q.queue.launch(20, 2);
  q.queue.work(30, 2, q.track);
  CHECK(q.text().empty());  // the first may still turn out to be this device's
  CHECK(q.finished() == "20:1 30:0 ");
}

TEST_CASE("launch queue: at equal times the last value only") {
  Queue q;
  q.queue.launch(10, 1);
  q.queue.launch(10, 2);
  q.queue.work(20, 1, q.track);
  q.queue.launch(20, 3);
  q.queue.work(30, 2, q.track);
  q.queue.work(30, 3, q.track);
  CHECK(q.finished() == "10:2 30:0 ");  // at 20 one goes and one comes
}

TEST_CASE("launch queue: a launch that waits for too long is given up and counted") {
  Queue q;
  q.queue.launch(1, 1);
  for (std::uint64_t i = 2; i < LaunchQueue::kMostWaiting + 2; ++i) {
    q.queue.launch(static_cast<std::int64_t>(10 * i), i);
    q.queue.work(static_cast<std::int64_t>(10 * i + 5), i, q.track);
  }
  CHECK(q.queue.given_up() == 1);
  q.queue.work(1'000'000, 1, q.track);
  q.finished();
  CHECK(q.tracks.of(DerivedTrack::queue_length).size() == 2 * LaunchQueue::kMostWaiting);
  CHECK(q.tracks.of(DerivedTrack::queue_length).back().value == 0);
}

TEST_CASE("launch queue: the table of waiting launches against a map", "[property]") {
  std::mt19937_64 random(3);
  WaitingLaunches table;
  LaunchRow row;
  std::unordered_map<std::uint64_t, std::uint64_t> truth;
  for (std::uint64_t i = 0; i < 100'000; ++i) {
    const std::uint64_t id = random() % 700 * (random() % 2 == 0 ? 1 : 0x100000000u);
    if (random() % 2 == 0) {
      const std::uint64_t place = row.first_place + row.launches.size();
      const bool is_new = table.add(row, id, place);
      REQUIRE(is_new == truth.try_emplace(id, place).second);
      if (!is_new) continue;
      row.launches.push_back({0, id, nullptr});
      if (row.launches.size() <= LaunchQueue::kMostWaiting) continue;
      const std::uint64_t oldest = row.launches.front().correlation;
      const auto waits = truth.find(oldest);
      if (waits != truth.end() && waits->second == row.first_place) {
        REQUIRE(table.take(row, oldest) == row.first_place);
        truth.erase(waits);
      }
      row.drop_first();
      continue;
    }
    const auto known = truth.find(id);
    const auto place = table.take(row, id);
    REQUIRE(place.has_value() == (known != truth.end()));
    if (place) REQUIRE(*place == known->second);
    if (place) truth.erase(known);
  }
}
