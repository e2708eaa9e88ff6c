#include "cli/trace/losses.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "cli/trace/event.h"
#include "cli/trace/ranks.h"
#include "cli/trace/words.h"

namespace cli {

namespace {

std::string noun(Kind kind, bool one) {
  switch (kind) {
    case Kind::memcpy:
      return one ? "copy" : "copies";
    case Kind::runtime:
      return one ? "runtime call" : "runtime calls";
    case Kind::driver:
      return one ? "driver call" : "driver calls";
    case Kind::nvtx:
      return one ? "NVTX range" : "NVTX ranges";
    case Kind::nccl:
      return one ? "NCCL call" : "NCCL calls";
    case Kind::kernel:
      return one ? "kernel" : "kernels";
    case Kind::graph:
      return one ? "graph launch" : "graph launches";
    case Kind::memset:
      return one ? "memset" : "memsets";
    default:
      return std::string(info(kind).name) + (one ? " event" : " events");
  }
}

std::string with_commas(std::uint64_t value) {
  std::string text = std::to_string(value);
  for (std::size_t at = text.size(); at > 3;) text.insert(at -= 3, 1, ',');
  return text;
}

std::string list(const KindCounts& counts, std::string_view what) {
  std::string text;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] == 0) continue;
    text += (text.empty() ? "" : ", ") + with_commas(counts[i]) + ' ' + noun(static_cast<Kind>(i), counts[i] == 1);
  }
  return text.empty() ? text : text + ' ' + std::string(what);
}

void join(std::string& text, const std::string& part) {
  if (!text.empty() && !part.empty()) text += "; ";
  text += part;
}

std::uint64_t sum(const KindCounts& counts) { return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0}); }

}  // namespace

std::string overwritten_text(const Process& p) { return list(p.overwritten, "overwritten"); }

std::string unrecorded_text(const Process& p) {
  std::string text = list(p.lost, "lost");
  if (p.lost_unknown_kind > 0) {
    const bool one = p.lost_unknown_kind == 1, file = p.format != SourceFormat::ring;
    join(text, with_commas(p.lost_unknown_kind) +
                   (file  ? one ? " event" : " events"
                    : one ? " record"
                          : " records") +
                   (file ? " of the file that could not be read" : " of unknown kind dropped by CUPTI"));
  }
  return text;
}

std::string loss_text(const Process& p) {
  std::string text = overwritten_text(p);
  join(text, unrecorded_text(p));
  const auto add = [&text](std::uint64_t count, const char* one, const char* many, const char* what) {
    if (count > 0) join(text, with_commas(count) + (count == 1 ? one : many) + what);
  };
  add(p.recorder.stacks_left_out, " call", " calls", " without a stack");
  add(p.recorder.operators_without_stack, " operator", " operators", " without a stack");
  add(p.recorder.module_names_missed, " module", " modules", " without a name");
  return text;
}

std::string removed_runs_text(std::uint64_t runs) {
  return fmt::format("deleted {} earlier {} to keep within TRACETOOL_KEEP and TRACETOOL_MAX_DISK", runs,
                     runs == 1 ? "run" : "runs");
}

bool overwrote(const Process& p) { return sum(p.overwritten) > 0; }
bool left_unrecorded(const Process& p) { return sum(p.lost) > 0 || p.lost_unknown_kind > 0; }

bool lost_everything(const Process& p) {
  return sum(p.counts) == 0 && (sum(p.overwritten) > 0 || sum(p.lost) > 0 || p.lost_unknown_kind > 0);
}

namespace {

struct Noticed {
  std::vector<std::int64_t> ranks;
  std::string text;  // of the first notice
};

// Returns true if no data is missing because of this notice.
bool is_missing_nothing(trace::NoticeCode code) {
  return code == trace::NoticeCode::source_on || code == trace::NoticeCode::clock_changed ||
         code == trace::NoticeCode::hang;
}

}  // namespace

std::vector<std::string> notice_notes(const Catalog& catalog) {
  std::map<trace::NoticeCode, Noticed> all;
  for (const Process& process : catalog.processes) {
    for (const Notice& notice : process.notices) {
      if (is_missing_nothing(notice.code)) continue;
      Noticed& noticed = all[notice.code];
      if (noticed.text.empty()) noticed.text = notice.text;
      noticed.ranks.push_back(process.rank);
    }
  }
  std::vector<std::string> notes;
  for (auto& [code, noticed] : all) {
    notes.push_back(fmt::format("{}: {}{}{} (`tracetool info` prints the times)", rank_list(std::move(noticed.ranks)),
                                word(code), noticed.text.empty() ? "" : ": ", noticed.text));
  }
  return notes;
}

}  // namespace cli
