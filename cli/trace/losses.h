// Descriptions of missing data in a recording. Exports print them so that an incomplete recording does not look
// complete.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "cli/trace/catalog.h"

namespace cli {

// Returns, for example, "12,345 kernels, 1 copy overwritten; 7 kernels lost; 3 records of unknown kind dropped by
// CUPTI; 5 calls without a stack"; "" if nothing is missing.
std::string loss_text(const Process& process);
// The parts of loss_text: events that the ring overwrote, and events that the agent or CUPTI never recorded.
std::string overwritten_text(const Process& process);
std::string unrecorded_text(const Process& process);

bool overwrote(const Process& process);
bool left_unrecorded(const Process& process);

// Returns "removed 2 earlier runs to keep within TRACETOOL_KEEP and TRACETOOL_MAX_DISK".
std::string removed_runs_text(std::uint64_t runs);

// Returns true if events were recorded but none of them is left.
bool lost_everything(const Process& process);

// Notes of analyses about missing data, from the notices of recordings.

// Returns one line per kind of notice, with all its ranks and the text of its first notice.
std::vector<std::string> notice_notes(const Catalog& catalog);

// Notes of a file (Process::notes) that analyses repeat: data that they cannot show or that they count differently from
// the file.

// The first and the last words of these notes.
inline constexpr std::string_view kNoKnownGpuCategory = "no GPU work in a known category";
inline constexpr std::string_view kOverrunsAreCut = "such work counts until then";
inline constexpr std::string_view kGraphsAreWhole = "CUDA graphs were traced as a whole";

inline std::vector<std::string> notes_for_analyses(const Process& process) {
  std::vector<std::string> notes;
  for (const std::string& note : process.notes) {
    if (note.starts_with(kNoKnownGpuCategory) || note.ends_with(kOverrunsAreCut))
      notes.push_back(process.source + ": " + note);
  }
  return notes;
}

}  // namespace cli
