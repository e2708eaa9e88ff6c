// The overlay against a slow and obvious one: time is cut into units, and each unit is looked at by itself.
#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <set>

#include "cli/answers/derived/overlay.h"
#include "derived_tracks.h"
#include "tests/case_step.h"
#include "tests/unit/catch.h"

using namespace cli;

namespace {

constexpr std::int64_t kUnit_ns = 400;  // gaps of one and two units are too short to be drawn
constexpr std::int64_t kUnits = 1500;   // 600 us: six windows of 100 us
constexpr std::int64_t kWindowUnits = 250;
constexpr std::int64_t kOrigin_ns = 1'700'000'000'000'000'000;
constexpr int kDevices = 2;

std::int64_t at(std::int64_t unit) { return kOrigin_ns + unit * kUnit_ns; }

struct Work {
  Kind kind;
  std::int64_t device, start, end;  // units
  bool comm;
  std::uint64_t bytes;
  bool to_device;  // of a copy
  std::uint64_t correlation;
};

struct Call {
  std::int64_t start;
  std::uint64_t correlation;
  Kind kind;
};

struct Case {
  std::vector<Work> works;
  std::vector<Call> calls;
  std::set<std::int64_t> cuts;
};

class Maker {
 public:
  explicit Maker(unsigned seed) : random_(seed) {}

  Case make(int launches, int cuts) {
    Case made;
    for (int i = 1; i <= launches; ++i) add_launch(made, static_cast<std::uint64_t>(i));
    for (int i = 0; i < cuts; ++i) made.cuts.insert(below(kUnits));
    return made;
  }

 private:
  std::int64_t below(std::int64_t limit) { return random_() % static_cast<unsigned>(limit); }

  void add_launch(Case& made, std::uint64_t id) {
    const std::int64_t start = below(kUnits - 300);
    if (below(8) != 0) made.calls.push_back({start, id, Kind::runtime});
    if (below(10) == 0) return;  // nothing of it is in the trace
    const std::int64_t first = start + 1 + below(40);
    if (below(3) == 0) made.calls.push_back({start + below(first - start), id, Kind::driver});
    const std::int64_t device = below(kDevices);
    for (std::int64_t node = below(6) == 0 ? 3 : 1; node > 0; --node)
      add_work(made, first + (node - 1) * 5, device, id);
  }

  void add_work(Case& made, std::int64_t start, std::int64_t device, std::uint64_t id) {
    static constexpr Kind kKinds[] = {Kind::kernel, Kind::kernel, Kind::kernel,
                                      Kind::memcpy, Kind::memset, Kind::graph};
    Work work{kKinds[below(6)], device, start, 0, below(3) == 0, 0, below(2) == 0, id};
    work.end = start + (below(10) == 0 ? 0 : below(20) == 0 ? below(200) : below(8));
    if (work.kind == Kind::memcpy) work.bytes = static_cast<std::uint64_t>(below(1000)) * 1000;
    made.works.push_back(work);
  }

  std::mt19937 random_;
};

struct Fed {
  Catalog catalog;
  std::vector<Event> events;

  explicit Fed(const Case& from) {
    Process process;
    process.first_ns = at(0), process.last_ns = at(kUnits);
    catalog.add_process(process);
    for (const Work& work : from.works) add(work);
    for (const Call& call : from.calls) add(call);
    std::stable_sort(events.begin(), events.end(), [](const Event& a, const Event& b) {
      return a.start_ns != b.start_ns ? a.start_ns < b.start_ns : a.duration_ns > b.duration_ns;
    });
  }

 private:
  void add(const Work& work) {
    Event e;
    e.kind = work.kind;
    const bool second = events.size() % 2 == 0;  // two streams each
    e.track = catalog.track(0, TrackKind::stream, work.device, second ? 8 : 7);
    e.start_ns = at(work.start), e.duration_ns = (work.end - work.start) * kUnit_ns;
    e.name = catalog.strings.intern(work.kind == Kind::memcpy ? work.to_device ? "Memcpy HtoD (Pinned -> Device)"
                                                                               : "Memcpy DtoH (Device -> Pinned)"
                                    : work.comm               ? "ncclDevKernel_AllReduce_Sum_f32_RING_LL"
                                                              : "gemm");
    e.bytes = work.bytes, e.has_bytes = work.kind == Kind::memcpy;
    e.correlation = work.correlation;
    events.push_back(e);
  }
  void add(const Call& call) {
    Event e;
    e.kind = call.kind;
    e.track = catalog.track(0, TrackKind::thread, 1, 1);
    e.start_ns = at(call.start), e.duration_ns = kUnit_ns;
    e.name = catalog.strings.intern(call.kind == Kind::driver ? "cuLaunchKernel" : "cudaLaunchKernel");
    e.correlation = call.correlation;
    events.push_back(e);
  }
};

using Pieces = std::vector<std::pair<std::int64_t, std::int64_t>>;  // units

// What is seen at each unit, without any cleverness.
class Truth {
 public:
  Truth(const Case& from, std::int64_t device) : case_(from), device_(device) {
    for (const Work& w : from.works) {
      if (w.device != device) continue;
      first_ = std::min(first_, w.start), last_ = std::max(last_, w.end);
    }
  }
  bool any() const { return first_ <= last_; }

  template <typename Which>
  int count(std::int64_t unit, Which which) const {
    return static_cast<int>(std::count_if(case_.works.begin(), case_.works.end(), [&](const Work& w) {
      return w.device == device_ && w.start <= unit && unit < w.end && which(w);
    }));
  }
  static bool communicates(const Work& w) { return w.kind == Kind::kernel && w.comm; }
  static bool computes(const Work& w) { return (w.kind == Kind::kernel && !w.comm) || w.kind == Kind::graph; }
  bool works(std::int64_t unit) const {
    return count(unit, [](const Work&) { return true; }) > 0;
  }
  int in_flight(std::int64_t unit) const { return count(unit, communicates); }
  bool exposed(std::int64_t unit) const { return in_flight(unit) > 0 && count(unit, computes) == 0; }
  bool idle(std::int64_t unit, std::int64_t until) const { return unit >= first_ && unit < until && !works(unit); }

  std::set<std::int64_t> idle_parted() const {  // by cuts, and by work of no length
    std::set<std::int64_t> parted = case_.cuts;
    for (const Work& w : case_.works) {
      if (w.device == device_ && w.start == w.end) parted.insert(w.start);
    }
    return parted;
  }

  double copies(std::int64_t unit, bool to_device) const {
    double sum = 0;
    for (const Work& w : case_.works) {
      if (w.device != device_ || w.kind != Kind::memcpy || w.to_device != to_device) continue;
      if (w.start <= unit && unit < w.end)
        sum += static_cast<double>(w.bytes) / static_cast<double>((w.end - w.start) * kUnit_ns);
    }
    return sum;
  }

  // Of this device: from the call to the first work.
  Pieces waits() const {
    std::map<std::uint64_t, std::pair<std::int64_t, std::int64_t>> launches;  // by correlation
    for (const Call& call : case_.calls) {
      std::int64_t& begin = launches.try_emplace(call.correlation, INT64_MAX, INT64_MAX).first->second.first;
      begin = std::min(begin, call.start);
    }
    for (const Work& w : case_.works) {
      const auto launch = launches.find(w.correlation);
      if (launch == launches.end() || w.device != device_) continue;
      launch->second.second = std::min(launch->second.second, w.start);
    }
    Pieces waits;
    for (auto [id, wait] : launches) {
      for (const std::int64_t cut : case_.cuts) wait.first = cut > wait.first && cut <= wait.second ? cut : wait.first;
      if (wait.second != INT64_MAX) waits.push_back(wait);
    }
    return waits;
  }

  std::int64_t first() const { return first_; }
  std::int64_t last() const { return last_; }

 private:
  const Case& case_;
  std::int64_t device_;
  std::int64_t first_ = INT64_MAX, last_ = INT64_MIN;
};

template <typename Holds>
Pieces runs(const std::set<std::int64_t>& parted, Holds holds) {
  Pieces pieces;
  for (std::int64_t unit = 0; unit < kUnits; ++unit) {
    if (!holds(unit)) continue;
    const bool goes_on = !pieces.empty() && pieces.back().second == unit && parted.count(unit) == 0;
    if (!goes_on) pieces.push_back({unit, unit});
    pieces.back().second = unit + 1;
  }
  return pieces;
}

Pieces pieces_of(const std::vector<DerivedTracks::Item>& items) {
  Pieces pieces;
  for (const DerivedTracks::Item& item : items) {
    pieces.push_back(
        {(item.start_ns - kOrigin_ns) / kUnit_ns, (item.start_ns + item.duration_ns - kOrigin_ns) / kUnit_ns});
  }
  return pieces;
}

// A value per unit; no time twice, no value twice in a row but for one at a cut.
std::vector<double> steps(const std::vector<DerivedTracks::Item>& items, const std::set<std::int64_t>& cuts) {
  std::vector<double> values(kUnits, 0);
  for (std::size_t i = 0; i < items.size(); ++i) {
    const std::int64_t unit = (items[i].start_ns - kOrigin_ns) / kUnit_ns;
    if (i > 0) {
      REQUIRE(items[i].start_ns > items[i - 1].start_ns);
      if (cuts.count(unit) == 0) REQUIRE(items[i].value != items[i - 1].value);
    }
    REQUIRE(items[i].value >= 0);
    std::fill(values.begin() + static_cast<std::ptrdiff_t>(unit), values.end(), items[i].value);
  }
  return values;
}

template <typename Value>
void check_counter(DerivedTracks& tracks, DerivedTrack track, std::int64_t device, const Case& from, Value value) {
  const std::vector<double> given = steps(tracks.of(track, device), from.cuts);
  for (std::int64_t unit = 0; unit < kUnits; ++unit) {
    const double seen = given[static_cast<std::size_t>(unit)], expected = static_cast<double>(value(unit));
    if (std::abs(seen - expected) < 1e-6) continue;
    INFO(cli::info(track).name << " of device " << device << " at unit " << unit);
    REQUIRE(seen == expected);
  }
}

std::int64_t drawn_until(const Case& from, const Truth& truth) {
  return from.cuts.empty() ? truth.last() : std::max(truth.last(), *from.cuts.rbegin());
}

void check_busy(DerivedTracks& tracks, const Case& from, const Truth& truth, std::int64_t device) {
  const std::int64_t until = drawn_until(from, truth);
  check_counter(tracks, DerivedTrack::busy, device, from, [&](std::int64_t unit) {
    if (unit < truth.first() || unit >= until) return 0.0;
    std::int64_t begin = std::max(unit / kWindowUnits * kWindowUnits, truth.first());
    std::int64_t end = std::min((unit / kWindowUnits + 1) * kWindowUnits, until);
    for (const std::int64_t cut : from.cuts) {
      if (cut <= unit) begin = std::max(begin, cut);
      if (cut > unit) end = std::min(end, cut);
    }
    std::int64_t busy = 0;
    for (std::int64_t u = begin; u < end; ++u) busy += truth.works(u);
    return 100.0 * static_cast<double>(busy) / static_cast<double>(end - begin);
  });
}

void check_device(DerivedTracks& tracks, const Case& from, std::int64_t device) {
  const Truth truth(from, device);
  const std::int64_t until = drawn_until(from, truth);
  Pieces idle = runs(truth.idle_parted(), [&](auto unit) { return truth.idle(unit, until); });
  idle.erase(std::remove_if(idle.begin(), idle.end(), [](const auto& p) { return p.second - p.first < 3; }),
             idle.end());
  REQUIRE(pieces_of(tracks.of(DerivedTrack::idle, device)) == idle);
  REQUIRE(pieces_of(tracks.of(DerivedTrack::exposed_comm, device)) ==
          runs(from.cuts, [&](auto unit) { return truth.exposed(unit); }));
  check_counter(tracks, DerivedTrack::comm_in_flight, device, from, [&](auto unit) { return truth.in_flight(unit); });
  check_counter(tracks, DerivedTrack::copy_h2d, device, from, [&](auto unit) { return truth.copies(unit, true); });
  check_counter(tracks, DerivedTrack::copy_d2h, device, from, [&](auto unit) { return truth.copies(unit, false); });
  const Pieces waits = truth.waits();
  check_counter(tracks, DerivedTrack::queue_length, device, from, [&](std::int64_t unit) {
    return std::count_if(waits.begin(), waits.end(), [&](auto w) { return w.first <= unit && unit < w.second; });
  });
  check_busy(tracks, from, truth, device);
}

// Events up to each cut, the cut, and so on; what comes out lies on the right side of it.
void run(const Case& from, DerivedTracks& tracks) {
  const Fed fed(from);
  Overlay overlay(fed.catalog, tracks);
  auto cut = from.cuts.begin();
  for (const Event& event : fed.events) {
    for (; cut != from.cuts.end() && at(*cut) <= event.start_ns; ++cut) {
      overlay.cut(at(*cut));
      REQUIRE(tracks.latest_ns <= at(*cut));
      tracks.earliest_ns = INT64_MAX;
    }
    overlay.event(event, "");
    if (cut != from.cuts.begin()) REQUIRE(tracks.earliest_ns >= at(*std::prev(cut)));
  }
  for (; cut != from.cuts.end(); ++cut) overlay.cut(at(*cut));
  overlay.finish();
  CHECK(overlay.notes().empty());
}

void check(unsigned seed, int launches, int cuts) {
  INFO("seed " << seed << ", " << launches << " launches, " << cuts << " cuts");
  const Case from = Maker(seed).make(launches, cuts);
  DerivedTracks tracks;
  run(from, tracks);
  for (std::int64_t device = 0; device < kDevices; ++device) check_device(tracks, from, device);
}

}  // namespace

TEST_CASE("overlay: as the slow and obvious one, at any time", "[property][slow]") {
  for (unsigned seed = 0; seed < 30; seed += static_cast<unsigned>(case_step()))
    check(seed, 1 + static_cast<int>(seed) * 8, 0);
}

TEST_CASE("overlay: likewise in parts", "[property][slow]") {
  for (unsigned seed = 100; seed < 140; seed += static_cast<unsigned>(case_step()))
    check(seed, 1 + static_cast<int>(seed % 60) * 4, 1 + static_cast<int>(seed % 5));
}
