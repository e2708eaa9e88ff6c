#include "cli/formats/ring/clock_axis.h"

#include <algorithm>
#include <cstdlib>
#include <limits>

namespace cli::ring {

namespace {

constexpr std::int64_t kNever_ns = std::numeric_limits<std::int64_t>::min(),
                       kForever_ns = std::numeric_limits<std::int64_t>::max();
constexpr std::size_t kMostLearnt = 64;           // eras that are determined more exactly than by samples
constexpr std::int64_t kSampleError_ns = 50'000;  // of the windows, and tolerance before times count as decreasing

// Times and offsets of damaged files wrap around.
std::int64_t clock_sum(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}
std::int64_t clock_difference(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
}
std::int64_t cupti_ns_of(std::uint64_t ns) { return static_cast<std::int64_t>(ns); }

}  // namespace

void SetClock::add_era(std::int64_t offset_ns, std::int64_t after_ns, std::int64_t before_ns) {
  eras_.push_back({offset_ns, after_ns, before_ns, {}});
  find_windows();
}

void SetClock::find_windows() {
  for (std::size_t i = 0; i < eras_.size(); ++i) {
    Era& era = eras_[i];
    era.first_ns = i == 0 ? kNever_ns : clock_difference(era.after_ns, clock_sum(era.offset_ns, kSampleError_ns));
    era.last_ns = i + 1 == eras_.size()
                      ? kForever_ns
                      : clock_sum(clock_difference(eras_[i + 1].before_ns, era.offset_ns), kSampleError_ns);
    era.last_so_far_ns = i == 0 ? era.last_ns : std::max(era.last_ns, eras_[i - 1].last_so_far_ns);
  }
  for (std::size_t i = eras_.size(); i-- > 0;) {
    const bool is_last = i + 1 == eras_.size();
    eras_[i].first_from_here_ns =
        is_last ? eras_[i].first_ns : std::min(eras_[i].first_ns, eras_[i + 1].first_from_here_ns);
  }
}

bool SetClock::is_near(const Era& era, const Era& before, const CuptiTimes& times) const {
  const std::int64_t begin_ns =
      std::min(era.first_ns, clock_difference(era.after_ns, clock_sum(before.offset_ns, kSampleError_ns)));
  const std::int64_t end_ns =
      std::max(before.last_ns, clock_sum(clock_difference(era.before_ns, era.offset_ns), kSampleError_ns));
  const auto lies = [&](std::int64_t ns) { return ns >= begin_ns && ns <= end_ns; };
  return lies(cupti_ns_of(times.start_ns)) || (times.end_ns != 0 && lies(cupti_ns_of(times.end_ns)));
}

bool SetClock::is_near(const CuptiTimes& times) const {
  for (std::size_t i = 1; i < std::min(eras_.size(), kMostLearnt); ++i) {
    if (is_near(eras_[i], eras_[i - 1], times)) return true;
  }
  return false;
}

void SetClock::learn(const std::vector<CuptiTimes>& all) {
  for (std::size_t i = 1; i < std::min(eras_.size(), kMostLearnt); ++i) {
    std::vector<const CuptiTimes*> near;
    for (const CuptiTimes& times : all) {
      if (is_near(eras_[i], eras_[i - 1], times)) near.push_back(&times);
    }
    if (clock_difference(eras_[i - 1].offset_ns, eras_[i].offset_ns) > 0) {
      find_gap(i, near);
    } else {
      find_order(i, std::move(near));
    }
  }
  find_windows();
}

// The last time before and the first one after.
void SetClock::narrow(std::size_t at, std::int64_t before_cupti_ns, std::int64_t after_cupti_ns) {
  Era& era = eras_[at];
  const std::int64_t after_ns = std::max(era.after_ns, clock_sum(before_cupti_ns, eras_[at - 1].offset_ns));
  const std::int64_t before_ns = std::min(era.before_ns, clock_sum(after_cupti_ns, era.offset_ns));
  if (after_ns > clock_sum(before_ns, kSampleError_ns)) return;
  era.after_ns = after_ns;
  era.before_ns = std::max(before_ns, after_ns);
}

// Set forward: uses the shortest of the gaps that are long enough, because it contains the least additional time.
void SetClock::find_gap(std::size_t at, const std::vector<const CuptiTimes*>& near) {
  const Era &era = eras_[at], &before = eras_[at - 1];
  const std::int64_t set_ns = clock_difference(before.offset_ns, era.offset_ns);
  std::vector<std::int64_t> times_ns;
  for (const CuptiTimes* each : near) {
    times_ns.push_back(cupti_ns_of(each->start_ns));
    if (each->end_ns != 0) times_ns.push_back(cupti_ns_of(each->end_ns));
  }
  std::sort(times_ns.begin(), times_ns.end());
  std::optional<std::size_t> found;
  const auto gap_ns = [&](std::size_t i) { return clock_difference(times_ns[i], times_ns[i - 1]); };
  for (std::size_t i = 1; i < times_ns.size(); ++i) {
    const bool may_be =
        times_ns[i - 1] <= before.last_ns && times_ns[i] >= era.first_ns && gap_ns(i) >= set_ns - kSampleError_ns;
    if (may_be && (!found || gap_ns(i) < gap_ns(*found))) found = i;
  }
  if (found) narrow(at, times_ns[*found - 1], times_ns[*found]);
}

// Set back: at the largest decrease of times of a queue from one correlation to the next.
void SetClock::find_order(std::size_t at, std::vector<const CuptiTimes*> near) {
  // A thread may be suspended between taking its number and its time.
  const std::int64_t least_ns =
      std::max(kSampleError_ns, clock_difference(eras_[at].offset_ns, eras_[at - 1].offset_ns) / 4);
  std::erase_if(near, [](const CuptiTimes* each) { return each->correlation == 0; });
  std::stable_sort(near.begin(), near.end(), [](const CuptiTimes* a, const CuptiTimes* b) {
    if (a->queue != b->queue) return a->queue < b->queue;
    if (a->correlation != b->correlation) return a->correlation < b->correlation;
    return a->queue == CuptiTimes::kCalls && a->start_ns < b->start_ns;  // a driver call within a runtime call
  });
  for (std::size_t begin = 0, end = 0; begin < near.size(); begin = end) {
    std::size_t found = begin;
    std::int64_t furthest_ns = least_ns;
    for (end = begin + 1; end < near.size() && near[end]->queue == near[begin]->queue; ++end) {
      const std::int64_t back_ns =
          clock_difference(cupti_ns_of(near[end - 1]->start_ns), cupti_ns_of(near[end]->start_ns));
      if (back_ns <= furthest_ns) continue;
      furthest_ns = back_ns;
      found = end;
    }
    if (found == begin) continue;
    eras_[at].first[near[begin]->queue] = near[found]->correlation;
    narrow(at, cupti_ns_of(near[found - 1]->start_ns), cupti_ns_of(near[found]->start_ns));
  }
}

// If the queue of work does not determine its era, the work is in the era of its call.
bool SetClock::Era::is_of(const CuptiTimes& times) const {
  if (times.correlation == 0) return false;
  auto found = first.find(times.queue);
  if (found == first.end()) found = first.find(CuptiTimes::kCalls);
  return found != first.end() && times.correlation >= found->second;
}

template <typename Visit>
void SetClock::each_era(std::uint64_t cupti_ns, const Visit& visit) const {
  const std::int64_t at_ns = cupti_ns_of(cupti_ns);
  const auto ends_before = [](const Era& era, std::int64_t ns) { return era.last_so_far_ns < ns; };
  const auto begin = std::lower_bound(eras_.begin(), eras_.end(), at_ns, ends_before);
  bool any = false;
  for (auto era = begin; era != eras_.end() && era->first_from_here_ns <= at_ns; ++era) {
    if (at_ns < era->first_ns || at_ns > era->last_ns) continue;
    visit(*era);
    any = true;
  }
  if (any || begin == eras_.end()) return;
  const bool is_after = begin != eras_.begin() &&
                        clock_difference(at_ns, (begin - 1)->last_ns) < clock_difference(begin->first_ns, at_ns);
  visit(is_after ? *(begin - 1) : *begin);
}

SetClock::Interval SetClock::on_axis(const CuptiTimes& times) const {
  std::optional<std::int64_t> start_ns, end_ns;
  each_era(times.start_ns, [&](const Era& era) {
    if (!start_ns || era.is_of(times)) start_ns = clock_sum(cupti_ns_of(times.start_ns), era.offset_ns);
  });
  if (times.end_ns == 0) return {start_ns.value_or(0), 0};
  // The first one that does not precede the start; otherwise the last one.
  each_era(times.end_ns, [&](const Era& era) {
    const std::int64_t ns = clock_sum(cupti_ns_of(times.end_ns), era.offset_ns);
    if (!end_ns || *end_ns < *start_ns) end_ns = ns;
  });
  return {start_ns.value_or(0), end_ns.value_or(0)};
}

namespace {

constexpr std::size_t kMostBases = 16;

// A time after the year 2116 is from a damaged sample: differences of two offsets would not fit into 64 bits.
constexpr std::uint64_t kEnd_ns = std::uint64_t{1} << 62;

bool is_sound(const trace::ClockSample& sample) {
  return sample.cupti_ns < kEnd_ns && sample.mono_ns < kEnd_ns && sample.real_ns < kEnd_ns;
}

std::int64_t mono_offset(const trace::ClockSample& sample) {
  return static_cast<std::int64_t>(sample.real_ns - sample.mono_ns);
}
std::int64_t cupti_offset(const trace::ClockSample& sample) {
  return static_cast<std::int64_t>(sample.real_ns - sample.cupti_ns);
}

// A sample whose thread was suspended while reading is too inexact to find a step.
constexpr std::uint64_t kLoose_ns = 1'000'000;
constexpr std::int64_t kHour_ns = 3'600'000'000'000;

bool has_same_wall(const trace::ClockSample& one, const trace::ClockSample& other) {
  const auto most = ClockAxis::kStep_ns + static_cast<std::int64_t>(one.uncertainty_ns + other.uncertainty_ns);
  return std::llabs(mono_offset(one) - mono_offset(other)) <= most;
}

}  // namespace

ClockAxis::ClockAxis(const std::vector<trace::ClockSample>& samples, const std::vector<trace::ClockSample>& records) {
  find_bases(samples);
  std::vector<trace::ClockSample> all = samples;
  all.insert(all.end(), records.begin(), records.end());
  const std::vector<Era> eras = eras_of(std::move(all));
  // The last sample alone may be damaged. It is used only to conclude that the clock was set.
  const bool ends_alone = eras.size() > 1 && eras.back().samples == 1;
  find_offsets(samples, eras.size() > 1 ? &eras[eras.size() - 1 - ends_alone] : nullptr);
  mono_ = file_mono_;
  cupti_ = file_cupti_;
  if (eras.size() > 1) find_steps(eras);
}

void ClockAxis::find_bases(const std::vector<trace::ClockSample>& samples) {
  for (const trace::ClockSample& sample : samples) {
    if (sample.mono_ns == 0 || sample.cupti_ns == 0 || !is_sound(sample)) continue;
    const auto real_ns = static_cast<std::int64_t>(sample.real_ns);
    if (bases_.empty()) earliest_ns_ = latest_ns_ = real_ns;
    earliest_ns_ = std::min(earliest_ns_, real_ns);
    latest_ns_ = std::max(latest_ns_, real_ns);
    const std::int64_t base = cupti_offset(sample);
    const auto is_same = [&](std::int64_t known) { return std::llabs(known - base) < kHour_ns; };
    if (bases_.size() < kMostBases && std::none_of(bases_.begin(), bases_.end(), is_same)) bases_.push_back(base);
  }
  if (bases_.empty()) return;
  earliest_ns_ -= kHour_ns;
  latest_ns_ += kHour_ns;
}

void ClockAxis::find_offsets(const std::vector<trace::ClockSample>& samples, const Era* era) {
  if (era != nullptr) file_mono_ = mono_offset(era->tightest);
  const trace::ClockSample* best = nullptr;
  for (const trace::ClockSample& sample : samples) {
    if (sample.mono_ns == 0 || !is_sound(sample)) continue;
    if (era != nullptr && (sample.uncertainty_ns > kLoose_ns || !has_same_wall(sample, era->tightest))) continue;
    if (file_mono_ == 0) file_mono_ = mono_offset(sample);
    if (sample.cupti_ns != 0 && (best == nullptr || sample.uncertainty_ns < best->uncertainty_ns)) best = &sample;
  }
  if (best == nullptr) return;
  file_mono_ = mono_offset(*best);
  file_cupti_ = cupti_offset(*best);
}

// A single sample that contradicts both of its neighbours, which agree, is damaged.
std::vector<ClockAxis::Era> ClockAxis::eras_of(std::vector<trace::ClockSample> samples) {
  std::erase_if(samples, [](const trace::ClockSample& sample) {
    return sample.mono_ns == 0 || !is_sound(sample) || sample.uncertainty_ns > kLoose_ns;
  });
  std::stable_sort(samples.begin(), samples.end(),
                   [](const auto& one, const auto& other) { return one.mono_ns < other.mono_ns; });
  std::vector<Era> eras;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const trace::ClockSample& sample = samples[i];
    const bool goes_on = !eras.empty() && has_same_wall(eras.back().tightest, sample);
    const bool is_alone =
        !eras.empty() && i + 1 < samples.size() && has_same_wall(eras.back().tightest, samples[i + 1]);
    if (!goes_on && is_alone) continue;
    if (!goes_on) eras.push_back({sample, {}, sample.mono_ns, 0, 0});
    Era& era = eras.back();
    era.last_mono_ns = sample.mono_ns;
    ++era.samples;
    if (sample.uncertainty_ns < era.tightest.uncertainty_ns) era.tightest = sample;
    const bool is_first = era.with_cupti.cupti_ns == 0;
    if (sample.cupti_ns != 0 && (is_first || sample.uncertainty_ns < era.with_cupti.uncertainty_ns))
      era.with_cupti = sample;
  }
  return eras;
}

void ClockAxis::find_steps(const std::vector<Era>& eras) {
  for (std::size_t i = 1; i < eras.size(); ++i) {
    const std::int64_t by_ns = mono_offset(eras[i].tightest) - mono_offset(eras[i - 1].tightest);
    steps_.push_back({moved(eras[i - 1].last_mono_ns, file_mono_), by_ns});
  }
  const auto known =
      std::find_if(eras.begin(), eras.end(), [](const Era& era) { return era.with_cupti.cupti_ns != 0; });
  if (known == eras.end()) return;
  // If CUPTI's clock was not read, it is assumed to follow the wall clock.
  std::int64_t wall_ns = cupti_offset(known->with_cupti), last_offset_ns = 0;
  for (std::size_t i = 0; i < eras.size(); ++i) {
    const bool is_known = eras[i].with_cupti.cupti_ns != 0;
    if (is_known) wall_ns = cupti_offset(eras[i].with_cupti);
    const std::int64_t to_mono_ns = wall_ns - mono_offset(is_known ? eras[i].with_cupti : eras[i].tightest);
    const std::int64_t offset_ns = moved(static_cast<std::uint64_t>(to_mono_ns), file_mono_);
    const std::int64_t jump_ns = moved(static_cast<std::uint64_t>(offset_ns), -last_offset_ns);
    if (i > 0 && jump_ns <= kStep_ns && jump_ns >= -kStep_ns) continue;
    set_clock_.add_era(offset_ns, moved(eras[i > 0 ? i - 1 : 0].last_mono_ns, file_mono_),
                       moved(eras[i].first_mono_ns, file_mono_));
    last_offset_ns = offset_ns;
  }
}

SetClock::Interval ClockAxis::from_cupti(const CuptiTimes& times) const {
  if (set_clock_.any()) return set_clock_.on_axis(times);
  return {from_cupti(times.start_ns), times.end_ns == 0 ? 0 : from_cupti(times.end_ns)};
}

std::int64_t ClockAxis::in_another_base(std::uint64_t cupti_ns, std::int64_t time_ns) const {
  for (const std::int64_t base : bases_) {
    const std::int64_t other_ns = moved(cupti_ns, base);
    if (other_ns >= earliest_ns_ && other_ns <= latest_ns_) return other_ns;
  }
  return time_ns;
}

void ClockAxis::enter_block(const trace::ClockSample& sample) {
  mono_ = file_mono_;
  cupti_ = file_cupti_;
  if (was_set() || sample.mono_ns == 0 || !is_sound(sample)) return;
  bool stepped = false;
  const std::int64_t most = kStep_ns + static_cast<std::int64_t>(std::min(sample.uncertainty_ns, kEnd_ns));
  if (std::llabs(mono_offset(sample) - file_mono_) > most) {
    mono_ = mono_offset(sample);
    stepped = true;
  }
  if (sample.cupti_ns != 0 && std::llabs(cupti_offset(sample) - file_cupti_) > most) {
    cupti_ = cupti_offset(sample);
    stepped = true;
  }
  stepped_blocks_ += stepped;
}

}  // namespace cli::ring
