#include "cli/read/clock_axis.h"

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

}  // namespace

ClockAxis::ClockAxis(const std::vector<trace::ClockSample>& samples) {
  constexpr std::int64_t kHour_ns = 3'600'000'000'000;
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
  if (!bases_.empty()) {
    earliest_ns_ -= kHour_ns;
    latest_ns_ += kHour_ns;
  }
  const trace::ClockSample* best = nullptr;
  for (const trace::ClockSample& sample : samples) {
    if (sample.mono_ns == 0 || !is_sound(sample)) continue;
    if (file_mono_ == 0) file_mono_ = mono_offset(sample);
    if (sample.cupti_ns != 0 && (best == nullptr || sample.uncertainty_ns < best->uncertainty_ns)) best = &sample;
  }
  if (best != nullptr) {
    file_mono_ = mono_offset(*best);
    file_cupti_ = cupti_offset(*best);
  }
  mono_ = file_mono_;
  cupti_ = file_cupti_;
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
  if (sample.mono_ns == 0 || !is_sound(sample)) return;
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
