// One output per chosen process, some at a time.
#pragma once
#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "cli/show/export/export_report.h"
#include "cli/show/export/pieces.h"

namespace cli {

struct ProcessOutputs {
  std::function<std::unique_ptr<ByteSink>(ProcessId)> open;
  // After the piece was finished, also where it was dropped because it has no event.
  std::function<void(ProcessId, const Piece&)> done;
};

// Walks the trace once for each kPiecesAtOnce processes. `report`: summary, left_out and notes are set.
void write_processes(const ExportJob& job, const ProcessOutputs& outputs, ExportReport& report);

}  // namespace cli
