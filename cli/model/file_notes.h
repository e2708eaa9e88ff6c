// Notes of a file (Process::notes) that more than `info` prints.
#pragma once
#include <algorithm>
#include <string>
#include <string_view>

#include "cli/model/catalog.h"

namespace cli {

inline constexpr std::string_view kNoKnownGpuCategory = "no GPU work of a category that this version knows";

// What its file has instead of known GPU work; "" if that is not known, or it has GPU work.
inline std::string without_gpu_category(const Process& process) {
  const auto found = std::find_if(process.notes.begin(), process.notes.end(), [](const std::string& note) { return note.starts_with(kNoKnownGpuCategory); });
  return found == process.notes.end() ? std::string() : process.source + ": " + *found;
}

}  // namespace cli
