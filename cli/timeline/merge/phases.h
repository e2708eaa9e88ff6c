// What the paths of several files say about which phase of a run each is of.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "cli/trace/catalog.h"

namespace cli {

// These are names of phases: no two are the same without their numbers (attempt0 and attempt1 are, and two times).
bool differ_without_numbers(const std::vector<std::string>& labels);

// These names differ only in numbers that one process counts: steps ("step_100", "iteration20"), or in the file's name times and
// numbers that no word names ("rank0.100", "host_5000.1715000000"). Not in numbers of something else ("run1", "attempt_0"), nor in
// directories of times.
bool number_phases(const std::string& a, const std::string& b);

// One for each path: the words in which the names of the files differ, without endings of traces; else those in which the
// innermost directories do. The first that differ without their numbers, else the first that differ, else "". At least two.
std::vector<std::string> phase_labels(const std::vector<std::string>& paths);

// Several files of one rank that are phases of its run: stage1-model_init_trace.json, stage2-eval_bpb_trace.json, ...
//
// Two Kineto files are phases of one rank when
// - they are of the same rank (or of no known one), and of one process id, which a file without timed events need not say
// - their hosts, numbers of ranks and GPUs do not differ, where they are known
// - their times do not overlap, and are at most a day apart; events at relative time 0, to which Kineto clamps, are not
//   counted, and a file without timed events has no times
// - their names, or the directories that they are in, differ in more than numbers, or in numbers that a process counts: times
//   and steps (phase_labels.h), as those of tensorboard_trace_handler with schedule(repeat=N). Process ids are the same in every
//   container, so names that only number runs are of two runs.
// Files that --rank gave the same rank need not be of one process, and their names need only differ. What else has one
// rank twice is two runs, or one file twice.
bool are_phases(const Process& a, const Process& b);

// When the events of a process begin, without those at relative time 0.
std::int64_t begin_of(const Process& process);

// Which of these rules does not hold ("their times overlap"); "" when all do.
std::string phases_fault(const Process& a, const Process& b);

// Sets Process::phase where all files of a rank, or of a process of unknown rank, are phases: the part in which their
// names differ ("stage1-model_init"). One that is set (merged before) stays.
// Returns what a person must know: a line for each of the first such ranks, and how many more there are.
std::vector<std::string> name_phases(Catalog& catalog);

}  // namespace cli
