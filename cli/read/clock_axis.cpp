#include "cli/read/clock_axis.h"

#include <cstdlib>

namespace cli {
namespace {

std::int64_t mono_offset(const trace::ClockSample& sample) {
  return static_cast<std::int64_t>(sample.real_ns - sample.mono_ns);
}
std::int64_t cupti_offset(const trace::ClockSample& sample) {
  return static_cast<std::int64_t>(sample.real_ns - sample.cupti_ns);
}

}  // namespace

ClockAxis::ClockAxis(const std::vector<trace::ClockSample>& samples) {
  const trace::ClockSample* best = nullptr;
  for (const trace::ClockSample& sample : samples) {
    if (sample.mono_ns == 0) continue;
    if (file_mono_ == 0) file_mono_ = mono_offset(sample);
    if (sample.cupti_ns != 0 && (best == nullptr || sample.bracket_ns < best->bracket_ns)) best = &sample;
  }
  if (best != nullptr) {
    file_mono_ = mono_offset(*best);
    file_cupti_ = cupti_offset(*best);
  }
  mono_ = file_mono_;
  cupti_ = file_cupti_;
}

void ClockAxis::enter_block(const trace::ClockSample& sample) {
  mono_ = file_mono_;
  cupti_ = file_cupti_;
  if (sample.mono_ns == 0) return;
  bool stepped = false;
  const std::int64_t most = kStep_ns + static_cast<std::int64_t>(sample.bracket_ns);
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
