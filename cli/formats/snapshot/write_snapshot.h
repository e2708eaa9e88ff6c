// Writes a memory snapshot of PyTorch as a pickle of protocol 4, which Python's pickle.load() and the page
// https://pytorch.org/memory_viz read. The page's reader supports only some instructions of protocols 2 to 4.
#pragma once
#include "cli/base/output_file.h"
#include "cli/formats/snapshot/snapshot.h"

namespace cli::snapshot {

// Writes the pickle, but does not finish `out`. Entries are written one by one, and a stack is written once.
//
// PyTorch requires that the blocks of a segment fill it. If `snapshot` has no layout, each block becomes a segment, and
// the rest of the reserved memory is one free segment. The key "has_layout" marks such a file.
void write_snapshot(const Snapshot& snapshot, ByteSink& out);

}  // namespace cli::snapshot
