// Several files of one rank that are phases of its run: stage1-model_init_trace.json, stage2-eval_bpb_trace.json, ...
//
// Two Kineto files are phases of one rank when they are of the same rank (or of no known one), not of different hosts,
// of the same process id, of different file names, of times that do not overlap and are at most a day apart. Files that
// --rank gave the same rank need not be of one process. What else has one rank twice is two runs, or one file twice.
#pragma once
#include <string>
#include <vector>

#include "cli/model/catalog.h"

namespace cli {

bool are_phases(const Process& a, const Process& b);

// Sets Process::phase where all files of a rank, or of a process of unknown rank, are phases: the part in which their
// names differ, without a number in front that counts them ("model_init"). One that is set (merged before) stays.
void name_phases(Catalog& catalog);

// The part in which names differ, word by word, one for each; endings of traces left out. `names`: at least two.
std::vector<std::string> differing_parts(const std::vector<std::string>& names);

}  // namespace cli
