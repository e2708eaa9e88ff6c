// Which inputs cannot be of one run, by when they were recorded.
//
// Inputs belong together when
// - they have one run id, or
// - they overlap in time, or a clock may explain the gap: hosts whose clocks differ by more than 5 minutes cannot even log in to each other
//   (Kerberos, RFC 4120), or
// - they were profiled at other times of one run: ranks that are known, or files of one process id, are at most an hour apart, because the
//   ranks of a job are profiled at the same steps, or one after the other by hand; phases of a rank (phases.h) at most a day.
// Times are those on the axis: collectives that two inputs share put them where they belong before. A clock that was never set (it reads a
// time before 2000) says nothing of when an input was recorded next to clocks that were; it counts only when no clock was set.
#pragma once
#include <string>
#include <vector>

#include "cli/trace/catalog.h"

namespace cli {

// The inputs of each run, all in order of time. One run if nothing separates them. Processes without times are in none.
std::vector<std::vector<ProcessId>> separate_runs(const Catalog& catalog);

// What a person is told of two runs or more; "" for one.
std::string separate_runs_text(const Catalog& catalog);

}  // namespace cli
