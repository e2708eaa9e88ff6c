// A question to a trace, answered by one table. An analysis is a file and a line in analyses.cpp: it takes the GPU work of
// the trace once, in the order of time, and gives its table at the end. It knows nothing of files, options or drawing.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cli/analyze/table.h"
#include "cli/analyze/windows.h"
#include "cli/analyze/work_class.h"
#include "cli/collectives/match.h"
#include "cli/model/catalog.h"
#include "cli/model/event.h"
#include "cli/model/steps.h"

namespace cli {

// A kernel, copy, set or whole graph that ran on a device, with its end; of chosen ranks and kinds.
struct GpuWork {
  ProcessId process = 0;
  std::int64_t device = -1;
  std::int64_t start_ns = 0, end_ns = 0;  // start_ns <= end_ns
  StringId name = 0;
  Kind kind = Kind::kernel;
  WorkClass work_class = WorkClass::compute;
  LaunchId launch = 0;  // of a kernel: in the catalogue's launches; 0: unknown
};

// What rows stand for, besides what they always do.
enum class GroupBy : std::uint8_t { none, rank, step };

// What decides which columns a table has.
struct RowKeys {
  GroupBy by = GroupBy::none;
  bool phases = false;  // a rank has several files, each of a phase of its run
};

// The collectives of a trace, of all its ranks and all of its time, and the calls that they consist of.
struct TraceCollectives {
  CollectiveCalls calls;
  MatchedCollectives matched;
};

struct AnalysisContext {
  const Catalog& catalog;
  Windows windows;
  const std::vector<std::string>& steps_found_by;  // by ProcessId; "": the process named no steps
  const std::vector<bool>& chosen;                      // by ProcessId: of these there are rows
  std::int64_t origin_ns = 0;                           // the trace's start
  RowKeys keys;
  const TraceCollectives* collectives = nullptr;  // when finish() is called, of analyses that need them
};

class Analysis {
 public:
  virtual ~Analysis() = default;
  // By start_ns ascending. What runs in none of the process's windows does not come.
  virtual void work(const GpuWork& /*work*/) {}
  // After the last one, once.
  virtual ResultTable finish() = 0;
};

struct AnalysisRow {
  std::string_view name;
  std::string_view meaning;
  std::vector<GroupBy> by;  // what its rows can stand for; the first where nothing else is asked for
  std::vector<Column> (*columns)(RowKeys keys);
  std::unique_ptr<Analysis> (*make)(const AnalysisContext& context);  // the context outlives it
  bool needs_collectives = false;
  bool on_request = false;  // one of many rows, or dear to make: where nothing is chosen, it is left out
};

const std::vector<AnalysisRow>& analyses();

// One per analysis file.
AnalysisRow temporal_analysis();
AnalysisRow kernels_analysis();
AnalysisRow steps_analysis();
AnalysisRow collectives_analysis();
AnalysisRow comm_analysis();

}  // namespace cli
