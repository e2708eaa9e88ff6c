#include "cli/timeline/merge/missing_data.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/base/text.h"
#include "cli/trace/catalog.h"
#include "cli/trace/losses.h"
#include "cli/trace/ranks.h"

namespace cli {
namespace {

constexpr std::size_t kSaid = 8;  // processes with a separate line

std::string lost(const Process& process) {
  const std::uint64_t events = process.lost_unknown_kind;
  if (events == 0) return {};
  return fmt::format("at least {} could not be read and {} skipped ({} of {} bytes of its text); ",
                     count_text(events, "event"), events == 1 ? "is" : "are", process.unread_bytes, process.text_bytes);
}

std::string name_of(const Process& p) {
  return p.rank < 0 ? p.source : fmt::format("rank {}{}{}", p.rank, p.phase.empty() ? "" : " ", p.phase);
}

std::string merged_export(const Process& process) {
  if (process.ranks_drawn < 2) return {};
  return fmt::format(
      "{} has {} processes named as ranks, like an exported trace: it is read as one process, including derived "
      "tracks; use the original recordings instead",
      process.source, process.ranks_drawn);
}

// The events of such a file are not sorted by time, so the time of the missing ones is unknown.
std::string cut_text(const Process& process) {
  if (process.cut.empty()) return {};
  const std::string until = process.last_ns == 0
                                ? std::string("no event with a time was read")
                                : fmt::format(
                                      "the last event read ends {} after the first one starts; events stored "
                                      "after it are missing",
                                      duration_text(process.last_ns - process.first_ns));
  return fmt::format("{}; {}; ", process.cut, until);
}

std::string file_damage(const Process& process) {
  if (process.format == SourceFormat::ring || process.state != RecordingState::recovered) return {};
  const std::string place =
      process.damage ? fmt::format("byte {}: {}; ", process.damage->byte, process.damage->what) : "";
  return fmt::format("{} is damaged: {}{}{}see tracetool info", process.source, lost(process), place,
                     cut_text(process));
}

// Returns the first few lines, and a line with the number of others.
class Lines {
 public:
  void say(std::string line) {
    if (line.empty()) return;
    if (lines_.size() < kSaid)
      lines_.push_back(std::move(line));
    else
      ++more_;
  }
  std::vector<std::string> take() {
    if (more_ > 0) lines_.push_back(fmt::format("{} more are incomplete; see tracetool info", more_));
    return std::move(lines_);
  }

 private:
  std::vector<std::string> lines_;
  std::size_t more_ = 0;
};

}  // namespace

std::string whole_graphs(const Catalog& catalog) {
  std::uint64_t launches = 0;
  std::vector<std::int64_t> ranks;
  for (const Process& process : catalog.processes) {
    const std::uint64_t here = process.counts[static_cast<std::size_t>(Kind::graph)];
    if (process.format != SourceFormat::nsys || here == 0) continue;
    launches += here;
    ranks.push_back(process.rank);
  }
  if (launches == 0) return {};
  return fmt::format(
      "{}: {} of CUDA graphs were recorded as a whole, so the kernels inside of them are missing from all counts and "
      "sums; record them with `nsys profile --cuda-graph-trace=node`",
      rank_list(std::move(ranks)), count_text(launches, "launch", "launches"));
}

std::string recording_losses(const Process& process) {
  std::string text = process.cut;
  if (const std::string overwritten = overwritten_text(process); !overwritten.empty()) {
    const std::uint64_t gone = total(process.overwritten), kept = total(process.counts);
    text += text.empty() ? "" : "; ";
    text += overwritten;
    if (process.cut.empty()) {  // the total number of events of a cut file is unknown
      const double share = 100.0 * static_cast<double>(gone) / static_cast<double>(gone + kept);
      text += fmt::format(" ({:.1f} % of the recorded events)", share);
    }
    if (process.recorder.created_ns > 0 && process.first_ns > process.recorder.created_ns) {
      text += fmt::format(": the first event is {} after the start of the recording",
                          duration_text(process.first_ns - process.recorder.created_ns));
    }
  }
  if (const std::string unrecorded = unrecorded_text(process); !unrecorded.empty()) {
    text += (text.empty() ? "" : "; ") + unrecorded;
  }
  return text;
}

std::vector<std::string> file_warnings(const Catalog& catalog) {
  Lines lines;
  lines.say(whole_graphs(catalog));
  for (const Process& process : catalog.processes) {
    lines.say(merged_export(process));
    lines.say(file_damage(process));
  }
  return lines.take();
}

std::vector<std::string> missing_data(const Catalog& catalog) {
  std::vector<std::string> all = file_warnings(catalog);
  Lines lines;
  for (const Process& process : catalog.processes) {
    if (process.format != SourceFormat::ring) continue;
    if (const std::string losses = recording_losses(process); !losses.empty())
      lines.say(name_of(process) + ": " + losses);
  }
  for (std::string& line : lines.take()) all.push_back(std::move(line));
  return all;
}

}  // namespace cli
