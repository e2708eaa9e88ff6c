#include "cli/answers/derived/device_tracks.h"

#include <algorithm>
#include <limits>

#include "cli/trace/ranks.h"

namespace cli {

void IdleTrack::gap(std::int64_t from_ns, std::int64_t to_ns) {
  DerivedFacts facts;
  facts.length_ns = to_ns - from_ns;
  if (facts.length_ns < kShortest_ns) {
    short_ns_ += facts.length_ns;
    ++short_gaps_;
    return;
  }
  facts.short_gaps = short_gaps_;
  facts.short_gaps_ns = short_ns_;
  out_.slice(DerivedTrack::idle, from_ns, to_ns, facts);
  short_ns_ = 0;
  short_gaps_ = 0;
}

namespace {

constexpr std::int64_t kShortestWindow_ns = 100'000;
constexpr std::int64_t kMostWindows = 2000;

}  // namespace

std::int64_t busy_window_ns(const Catalog& catalog) {
  std::int64_t first = std::numeric_limits<std::int64_t>::max(), last = std::numeric_limits<std::int64_t>::min();
  for (const Process& p : catalog.processes) {
    if (p.first_ns == 0 && p.last_ns == 0) continue;
    first = std::min(first, p.first_ns);
    last = std::max(last, p.last_ns);
  }
  const double least = first < last ? (static_cast<double>(last) - static_cast<double>(first)) / kMostWindows : 0;
  std::int64_t decade = kShortestWindow_ns;
  while (static_cast<double>(decade) * 5 < least) decade *= 10;
  for (const std::int64_t times : {1, 2}) {
    if (static_cast<double>(decade * times) >= least) return decade * times;
  }
  return decade * 5;
}

void BusyTrack::work(std::int64_t start_ns, std::int64_t until_ns) {
  if (now_ns_ == kNever) {
    now_ns_ = begin_ns_ = start_ns;
    end_ns_ = window_begin(start_ns) + window_ns_;
  }
  advance(start_ns);
  covered_ns_ = until_ns;
}

void BusyTrack::cut(std::int64_t at_ns) {
  if (now_ns_ != kNever) {
    advance(at_ns);
    if (begin_ns_ < at_ns) close(at_ns);
  }
  track_.cut(at_ns);
}

void BusyTrack::finish() {
  if (now_ns_ == kNever) return;
  if (covered_ns_ > now_ns_) advance(covered_ns_);
  if (begin_ns_ < now_ns_) close(now_ns_);
  track_.set(now_ns_, 0);
  track_.finish();
}

void BusyTrack::advance(std::int64_t to_ns) {
  while (now_ns_ < to_ns) {
    const std::int64_t stop = std::min(to_ns, end_ns_);
    const std::int64_t busy = std::max<std::int64_t>(0, std::min(covered_ns_, stop) - now_ns_);
    busy_ns_ += busy;
    now_ns_ = stop;
    if (now_ns_ < end_ns_) return;
    close(now_ns_);
    pass_equal_windows(to_ns);
  }
}

// Emits one value for consecutive windows that are entirely busy or entirely idle.
void BusyTrack::pass_equal_windows(std::int64_t to_ns) {
  const bool busy = covered_ns_ > now_ns_;
  const std::int64_t last = window_begin(busy ? std::min(to_ns, covered_ns_) : to_ns);
  if (last <= now_ns_) return;
  track_.set(now_ns_, busy ? 100 : 0);
  now_ns_ = begin_ns_ = last;
  end_ns_ = last + window_ns_;
}

void BusyTrack::close(std::int64_t at_ns) {
  track_.set(begin_ns_, 100.0 * static_cast<double>(busy_ns_) / static_cast<double>(at_ns - begin_ns_));
  busy_ns_ = 0;
  begin_ns_ = at_ns;
  end_ns_ = window_begin(at_ns) + window_ns_;
}

std::int64_t BusyTrack::window_begin(std::int64_t ns) const {
  const std::int64_t into = ns % window_ns_;
  return ns - into - (into < 0 ? window_ns_ : 0);
}

namespace {

std::size_t place(DerivedTrack direction) {
  return static_cast<std::size_t>(direction) - static_cast<std::size_t>(DerivedTrack::copy_h2d);
}

}  // namespace

DeviceTracks::DeviceTracks(TrackOut out, std::int64_t window_ns)
    : out_(out),
      idle_(out),
      busy_(out, window_ns),
      in_flight_track_(out, DerivedTrack::comm_in_flight),
      copy_tracks_{CounterTrack(out, DerivedTrack::copy_h2d), CounterTrack(out, DerivedTrack::copy_d2h),
                   CounterTrack(out, DerivedTrack::copy_d2d), CounterTrack(out, DerivedTrack::copy_peer)},
      queue_(out, DerivedTrack::queue_length) {}

void DeviceTracks::work(const Event& event, std::int64_t end_ns, WorkClass work_class,
                        std::optional<DerivedTrack> direction) {
  intervals_.add(work_class, event.start_ns, end_ns, *this);
  if (work_class == WorkClass::comm) in_flight_.add(event.start_ns, end_ns, 1, flight());
  if (event.kind == Kind::memcpy && direction && event.has_bytes) {
    copies_.add(place(*direction), event.start_ns, end_ns, event.duration_ns, event.bytes, rate());
  }
}

void DeviceTracks::exposed(std::int64_t from_ns, std::int64_t to_ns) {
  DerivedFacts facts;
  facts.length_ns = to_ns - from_ns;
  out_.slice(DerivedTrack::exposed_comm, from_ns, to_ns, facts);
}

void DeviceTracks::cut(std::int64_t at_ns) {
  intervals_.cut(at_ns, *this);
  busy_.cut(at_ns);
  in_flight_.advance(at_ns, flight());
  in_flight_track_.cut(at_ns);
  queue_.cut(at_ns);
  for (std::size_t direction = 0; direction < copy_tracks_.size(); ++direction) {
    copies_.advance(direction, at_ns, rate());
    copy_tracks_[direction].cut(at_ns);
  }
}

void DeviceTracks::finish() {
  intervals_.finish(*this);
  busy_.finish();
  in_flight_.advance(std::numeric_limits<std::int64_t>::max(), flight());
  in_flight_track_.finish();
  queue_.finish();
  for (std::size_t direction = 0; direction < copy_tracks_.size(); ++direction) {
    copies_.advance(direction, std::numeric_limits<std::int64_t>::max(), rate());
    copy_tracks_[direction].finish();
  }
}

MemoryTracks::MemoryTracks(const Catalog& catalog, ProcessId process, DerivedSink& sink)
    : catalog_(&catalog), process_(process), sink_(&sink), levels_(catalog, process) {}

void MemoryTracks::level(std::int64_t device, MemoryLevel which, std::int64_t ns, std::int64_t bytes) {
  const TrackOut out{sink_, process_, device};
  Tracks& of =
      devices_.try_emplace(device, Tracks{{out, DerivedTrack::allocated}, {out, DerivedTrack::reserved}}).first->second;
  (which == MemoryLevel::allocated ? of.allocated : of.reserved).set(ns, static_cast<double>(bytes));
}

void MemoryTracks::cut(std::int64_t at_ns) {
  for (auto& [device, of] : devices_) {
    of.allocated.cut(at_ns);
    of.reserved.cut(at_ns);
  }
}

void MemoryTracks::finish() {
  for (auto& [device, of] : devices_) {
    of.allocated.finish();
    of.reserved.finish();
  }
}

void MemoryTracks::add_notes(std::vector<std::string>& notes) const {
  if (!levels_.misses_allocations()) return;
  const Process& p = catalog_->processes[process_];
  notes.push_back((p.rank >= 0 ? rank_list({p.rank}) : p.source) +
                  ": no track of allocated memory, because some allocations are not in the recording");
}

}  // namespace cli
