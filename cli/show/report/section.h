// A section of the report page. Each is a file and a line in section.cpp.
#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/answers/rules/diagnose.h"
#include "cli/answers/tables/analyze.h"
#include "cli/show/report/html.h"
#include "cli/trace/catalog.h"
#include "cli/trace/clocks.h"

namespace cli::report {

// Waits of ranks in collectives. A wait for the last rank lasts from a rank's own start to the start of that rank.
struct WaitTables {
  // rank, communicator, description, epoch, collectives, wait_ns: sums of the waits in the table collectives
  ResultTable by_communicator;
  ResultTable by_rank;  // rank, for_rank, collectives, wait_ns, exposed_ns
  ResultTable by_step;  // step, for_rank, exposed_ns: all ranks together
};

// Returns an observer for an AnalysisRequest. Its finish() sets `tables`, which must outlive it. exposed_ns is the part
// of the waits without compute. It is a part of exposed_comm_ns in the table temporal, and each moment counts once.
TablesObserverEntry waits_observer(WaitTables& tables);

// GPU time by the call path that launched it, from the data of `export --folded`: the tree of a flame graph, and the
// longest paths.
struct FlameNode {
  std::string name;
  std::size_t depth = 0;
  std::int64_t from_ns = 0, ns = 0;  // start if all work ran in sequence; length with all children
  bool is_leaf = false;              // a kernel, copy or memset
};

struct FlameTree {
  std::int64_t total_ns = 0;
  std::vector<std::string> common;  // the outermost names that all of the time shares
  std::vector<FlameNode>
      nodes;  // parents come before children, large nodes before small ones; nodes below least_ns are omitted
  std::int64_t least_ns = 0;  // minimum length of nodes
  ResultTable longest;        // the longest paths: gpu_ns, gpu_share_pct, stack
};

// Returns an analysis for an AnalysisRequest. Its finish() fills `tree`.
TablesObserverEntry flame_observer(FlameTree& tree);

// Returns an observer for an AnalysisRequest. Its finish() sets `markup`: charts of memory over time, and tables of the
// memory in use at the peak, of the GPUs with the highest peaks. `markup` is "" if the trace has no allocations.
TablesObserverEntry memory_observer(const std::string& inputs, std::string& markup);

// The data for the sections of a report. It outlives them.
struct ReportFacts {
  const Catalog& catalog;
  const std::vector<ClockFit>& fits;
  std::vector<ResultTable> tables;   // of the analyses that the sections request
  std::vector<ResultTable> by_step;  // tables temporal, idle and memory by step; empty if there are no steps
  WaitTables waits;
  FlameTree flame;
  rules::Diagnosis diagnosis;
  std::string timeline;  // markup of the timeline section
  std::string inputs;    // as words of a shell command
  // Options that select a part of the inputs, in the same form, each preceded by a blank; or ""
  std::string selected;
  // By ProcessId; false for processes of ranks excluded by --ranks, which are not shown
  std::vector<bool> chosen;
  // How recordings were made, one line per configuration; "" if the input has no recording
  std::string recorder;
  // How clocks are aligned, in a sentence; "" if there is only one clock or none is known
  std::string clocks;
  std::vector<std::string> notes;  // data missing from the page; a sentence each
  std::string memory = {};         // markup of the memory over time
};

struct SectionEntry {
  std::string_view id, title;
  std::vector<std::string_view> tables;                             // tables of analyses that it shows
  std::function<void(const ReportFacts& facts, Html& page)> write;  // writes the content below the title
  // If it returns false, the page omits the section; null for always
  std::function<bool(const ReportFacts& facts)> applies = nullptr;
};

// In page order.
const std::vector<SectionEntry>& sections();

// Returns true if there is GPU work in the chosen time.
bool has_gpu_time(const ReportFacts& facts);

// Returns true if there are operators with known sizes and a GPU with known peaks.
bool has_roofline(const ReportFacts& facts);

}  // namespace cli::report
