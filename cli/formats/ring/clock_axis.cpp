#include "cli/formats/ring/clock_axis.h"

#include <algorithm>
#include <cstdlib>

namespace cli {
namespace {

constexpr std::size_t kMostBases = 16;

// A later time (than the year 2116) is a damaged sample's: differences of two offsets would not fit into 64 bits.
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

// A sample whose reader was put to sleep tells too little to find a step by.
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
  // What one sample alone says at the end may be damage: of that, no more is believed than that the clock was set.
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

// One sample that contradicts both of its neighbours, which agree, is damaged.
std::vector<ClockAxis::Era> ClockAxis::eras_of(std::vector<trace::ClockSample> samples) {
  std::erase_if(samples, [](const trace::ClockSample& sample) { return sample.mono_ns == 0 || !is_sound(sample) || sample.uncertainty_ns > kLoose_ns; });
  std::stable_sort(samples.begin(), samples.end(), [](const auto& one, const auto& other) { return one.mono_ns < other.mono_ns; });
  std::vector<Era> eras;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const trace::ClockSample& sample = samples[i];
    const bool goes_on = !eras.empty() && has_same_wall(eras.back().tightest, sample);
    const bool is_alone = !eras.empty() && i + 1 < samples.size() && has_same_wall(eras.back().tightest, samples[i + 1]);
    if (!goes_on && is_alone) continue;
    if (!goes_on) eras.push_back({sample, {}, sample.mono_ns, 0, 0});
    Era& era = eras.back();
    era.last_mono_ns = sample.mono_ns;
    ++era.samples;
    if (sample.uncertainty_ns < era.tightest.uncertainty_ns) era.tightest = sample;
    const bool is_first = era.with_cupti.cupti_ns == 0;
    if (sample.cupti_ns != 0 && (is_first || sample.uncertainty_ns < era.with_cupti.uncertainty_ns)) era.with_cupti = sample;
  }
  return eras;
}

void ClockAxis::find_steps(const std::vector<Era>& eras) {
  for (std::size_t i = 1; i < eras.size(); ++i) {
    const std::int64_t by_ns = mono_offset(eras[i].tightest) - mono_offset(eras[i - 1].tightest);
    steps_.push_back({moved(eras[i - 1].last_mono_ns, file_mono_), by_ns});
  }
  const auto known = std::find_if(eras.begin(), eras.end(), [](const Era& era) { return era.with_cupti.cupti_ns != 0; });
  if (known == eras.end()) return;
  // Where CUPTI's clock was not read, it has gone with the wall clock.
  std::int64_t wall_ns = cupti_offset(known->with_cupti), last_offset_ns = 0;
  for (std::size_t i = 0; i < eras.size(); ++i) {
    const bool is_known = eras[i].with_cupti.cupti_ns != 0;
    if (is_known) wall_ns = cupti_offset(eras[i].with_cupti);
    const std::int64_t to_mono_ns = wall_ns - mono_offset(is_known ? eras[i].with_cupti : eras[i].tightest);
    const std::int64_t offset_ns = moved(static_cast<std::uint64_t>(to_mono_ns), file_mono_);
    const std::int64_t jump_ns = moved(static_cast<std::uint64_t>(offset_ns), -last_offset_ns);
    if (i > 0 && jump_ns <= kStep_ns && jump_ns >= -kStep_ns) continue;
    set_clock_.add_era(offset_ns, moved(eras[i > 0 ? i - 1 : 0].last_mono_ns, file_mono_), moved(eras[i].first_mono_ns, file_mono_));
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

}  // namespace cli
