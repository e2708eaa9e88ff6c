// What a recording does not hold, in words, so that no export looks complete when it is not.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "cli/trace/catalog.h"

namespace cli {

// "12,345 kernels, 1 copy overwritten; 7 kernels lost; 3 records of unknown kind dropped by CUPTI; 5 calls without a stack"; "" when all
// is there.
std::string loss_text(const Process& process);
// Its parts: what the ring recycled; and what was never recorded, by the agent or by CUPTI.
std::string overwritten_text(const Process& process);
std::string unrecorded_text(const Process& process);

bool overwrote(const Process& process);
bool left_unrecorded(const Process& process);

// Returns "removed 2 earlier runs to keep within TRACETOOL_KEEP and TRACETOOL_MAX_DISK".
std::string removed_runs_text(std::uint64_t runs);

// Nothing was kept, and something was recorded.
bool lost_everything(const Process& process);

// Notices of recordings about missing data, as notes of analyses.

// Returns one line for each kind of notice, with all its ranks and the text of the first.
std::vector<std::string> notice_notes(const Catalog& catalog);

// Notes of a file (Process::notes) that analyses repeat: what they cannot show, or count otherwise than the file has it.

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
