// What happened to the recording itself, written into it, so that whoever reads the numbers knows what they lack.
#pragma once
#include <string_view>

#include "agent/ring/recorder.h"

namespace agent {

// `end_mono_ns` equal to the start: a moment; 0: it has not ended. Nothing where there is no recording.
void write_notice(const Guard& guard, trace::NoticeCode code, std::uint32_t value, std::uint64_t start_mono_ns,
                  std::uint64_t end_mono_ns, std::string_view text) noexcept;

}  // namespace agent
