// Notes of a file (Process::notes) that analyses repeat: what they cannot show, or count otherwise than the file has it.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "cli/trace/catalog.h"

namespace cli {

// How they begin and end.
inline constexpr std::string_view kNoKnownGpuCategory = "no GPU work in a known category";
inline constexpr std::string_view kOverrunsAreCut = "such work counts until then";

inline std::vector<std::string> notes_for_analyses(const Process& process) {
  std::vector<std::string> notes;
  for (const std::string& note : process.notes) {
    if (note.starts_with(kNoKnownGpuCategory) || note.ends_with(kOverrunsAreCut)) notes.push_back(process.source + ": " + note);
  }
  return notes;
}

}  // namespace cli
