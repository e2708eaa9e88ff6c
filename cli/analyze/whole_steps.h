// The training steps that the chosen time of their process holds as a whole, whatever rows stand for.
#pragma once
#include "cli/analyze/analysis.h"

namespace cli {

Windows whole_steps(const AnalysisContext& context);

// The index of the window that holds this moment; none: it lies in no window.
inline std::optional<std::size_t> window_at(const Windows& windows, ProcessId process, std::int64_t ns) {
  const std::size_t at = windows.first_after(process, ns);
  const auto& all = windows.of(process);
  return at < all.size() && all[at].from_ns <= ns ? std::optional(at) : std::nullopt;
}

}  // namespace cli
