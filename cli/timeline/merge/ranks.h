// Assigns ranks: one process per rank, sorted by rank.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/trace/catalog.h"

namespace cli {

// Phases of a run, from the paths of its files.

// Returns true if the labels are names of phases: all remain different without their numbers. attempt0 and attempt1 do
// not, nor do two times.
bool differ_without_numbers(const std::vector<std::string>& labels);

// Returns true if two names differ only in numbers that one process counts: steps ("step_100", "iteration20"), or, in
// file names, times and numbers without a word before them ("rank0.100", "host_5000.1715000000"). Other numbers
// ("run1", "attempt_0") and times in directory names do not count.
bool number_phases(const std::string& a, const std::string& b);

// Returns a label for each path, for at least two paths: the words in which the file names (without trace endings)
// differ, otherwise the words in which the innermost directories differ. Labels that differ without their numbers are
// preferred to other labels that differ. "" if there are none.
std::vector<std::string> phase_labels(const std::vector<std::string>& paths);

// Returns true if two files of one rank are phases of its run: stage1-model_init_trace.json,
// stage2-eval_bpb_trace.json, ...
//
// Two Kineto files are phases of one rank if
// - they have the same rank (or none) and the same process id, which may be missing in a file without timed events
// - their hosts, numbers of ranks and GPUs are equal as far as they are known
// - their times do not overlap and are at most a day apart; events at relative time 0, to which Kineto clamps, are not
//   counted, and a file without timed events has no times
// - their names, or the names of their directories, differ in more than numbers, or in numbers that a process counts:
//   times and steps, as in files of tensorboard_trace_handler with schedule(repeat=N). Process ids are the same in
//   every container, so names that only number runs mean two runs.
// Files to which --rank gave the same rank may be of different processes, and only their names have to differ. Any
// other duplicate rank means two runs, or the same file twice.
bool are_phases(const Process& a, const Process& b);

// Returns when the events of a process begin, ignoring events at relative time 0.
std::int64_t begin_of(const Process& process);

// Returns the violated rule ("their times overlap"); "" if all hold.
std::string phases_fault(const Process& a, const Process& b);

// Sets Process::phase if all files of a rank, or of a process of unknown rank, are phases: to the part in which their
// names differ ("stage1-model_init"). A phase that is already set by an earlier merge is kept. Returns lines for the
// user: one for each of the first such ranks, and one with the number of others.
std::vector<std::string> name_phases(Catalog& catalog);

// Ranks from file names, for files without a rank in their content. All names are considered together.
//
// - A number after the word "rank" or "worker" is a rank: rank3, rank-3, rank_3, rank=3, rank.3, rank[3]. Letters
//   before the word ("frank3") or between it and the number ("workers_3") make it another word. A word before it makes
//   it another kind of rank: tp_rank_0, lora_rank16, local_rank_1.
// - "rank" has priority over "worker". "worker" counts only if all names have it, and not within a host name
//   (HOST_PID.TIME.pt.trace.json).
// - If a name has several such numbers, the one that differs between the files is the rank. If that is not unique,
//   there is none.
// - Directory names are used for files without a rank in their own names, if their numbers are 0 to N-1.
// - Without such a word, the only number that differs between the names is the rank, if the files have the numbers 0 to
//   N-1 and all ran at the same time. Numbers with ten or more digits are times.

// Returns the rank after the word "rank" or "worker", for each path.
std::vector<std::optional<std::int64_t>> rank_names(const std::vector<std::string>& paths);

// Sets the rank from a file's name on the profile, or on the only process of a report, that begins at index `first`, if
// its content has none.
void give_named_rank(Catalog& catalog, std::size_t first, std::optional<std::int64_t> rank);

// The order of GPUs in a report of Nsight Systems numbers the ranks of one host from 0 (RankSource::device_order). If
// earlier inputs contain such ranks of other hosts, those of the input that begins at index `first` continue their
// numbers.
void continue_device_ranks(Catalog& catalog, std::size_t first);
// Returns a line for the user about such ranks; "" if there are none.
std::string device_ranks_text(const Catalog& catalog);

// Sets ranks on profiles without one if their names count them. Returns a line for the user (which ranks were counted,
// or that ranks are unknown and how to give them); "" if there is nothing to report.
std::string count_ranks(Catalog& catalog);

// Returns directory names without the directory of a rank ("step19/rank0" becomes "step19") if these count 0 to N-1.
std::vector<std::string> without_rank_directories(const std::vector<std::string>& names);

// Sets `rank`, if given, on the process read from `source`, at index `first`. Throws Error (usage) if the file has
// several processes.
void set_rank(Catalog& catalog, std::size_t first, const std::string& source, std::optional<std::int64_t> rank);

// Throws Error (usage), with both file names, if two processes have the same rank and are not phases of it.
void check_ranks(const Catalog& catalog);

// The same check for ranks given by --rank.
void check_given_ranks(const Catalog& catalog);

// Returns why the processes cannot be of one run: different run ids or world sizes. "" if there is no contradiction.
std::string contradiction(const Catalog& catalog);

// Returns a warning with the largest gap if some processes ended before others began, otherwise "". Phases of one rank
// are not counted because they follow each other. The gap is no proof, because clocks may be wrong.
std::string apart_in_time(const Catalog& catalog);

// Returns a sentence for each run with ranks in several files, which readers of all files would count twice. Phases are
// not reported.
std::vector<std::string> repeated_ranks(const Catalog& catalog);

// Sorts the processes by rank (unknown ones last), then phase by time, then source, and updates the tracks. Returns the
// new id of each process. Catalog::track() must not be called for new tracks afterwards.
std::vector<ProcessId> sort_processes(Catalog& catalog);

}  // namespace cli
