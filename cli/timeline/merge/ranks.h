// Who is who: one process per rank, in the order of ranks.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/trace/catalog.h"

namespace cli {

// What the paths of several files say about which phase of a run each is of.

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
//   and steps, as those of tensorboard_trace_handler with schedule(repeat=N). Process ids are the same in every
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

// The ranks that the names of files tell, for files whose content has none. All names are looked at together.
//
// - A number after the word "rank" or "worker" is a rank: rank3, rank-3, rank_3, rank=3, rank.3, rank[3]. Letters before the
//   word ("frank3") or between it and the number ("workers_3") make it another word, and a word before it makes it the rank of
//   something else: tp_rank_0, lora_rank16, local_rank_1.
// - "rank" wins over "worker", which counts only if all names have it, and not in a host's name (HOST_PID.TIME.pt.trace.json).
// - If a name has several such numbers, the one that differs between the files is the rank; otherwise none is.
// - Directories count for files whose own names tell nothing, if their numbers are 0 to N-1.
// - Without such a word, the only number that differs between the names is the rank, if the files hold 0 to N-1 and all of
//   them ran at one time. Numbers of ten digits and more are times.

// What the words "rank" and "worker" tell, for each path.
std::vector<std::optional<std::int64_t>> rank_names(const std::vector<std::string>& paths);

// Gives a rank from a file's name to the profile from index `first` on, if its content has none.
void give_named_rank(Catalog& catalog, std::size_t first, std::optional<std::int64_t> rank);

// Gives the profiles that have no rank yet those that their names count, if they do. Returns a line for the user: which
// ranks were counted, or that ranks are unknown and how to say them; "" if there is nothing to say.
std::string count_ranks(Catalog& catalog);

// The names of directories, without the directory of a rank ("step19/rank0" is "step19") if these count 0 to N-1 there.
std::vector<std::string> without_rank_directories(const std::vector<std::string>& names);

// Gives `rank`, if there is one, to the process that was read from `source`: the one from index `first` on. Throws
// Error (usage) when the file holds several.
void set_rank(Catalog& catalog, std::size_t first, const std::string& source, std::optional<std::int64_t> rank);

// Throws Error (usage) that names both files when two processes claim one rank and are not its phases.
void check_ranks(const Catalog& catalog);

// The same where --rank gave both of them the rank.
void check_given_ranks(const Catalog& catalog);

// In what the processes cannot be of one run: their run ids or the sizes of their worlds differ. "" where nothing
// contradicts.
std::string contradiction(const Catalog& catalog);

// A warning where some processes ended before others began, with the largest such gap, else "". Phases of one rank
// follow each other. Clocks may be wrong, so that it proves nothing.
std::string apart_in_time(const Catalog& catalog);

// A sentence when ranks of one run come from several files, so that what reads them all counts them twice;
// phases are not meant.
std::vector<std::string> repeated_ranks(const Catalog& catalog);

// Sorts the processes by rank (unknown ones last), then phase in time, then source; the tracks follow. Afterwards
// Catalog::track() must not be asked for new tracks. Returns what each process has become.
std::vector<ProcessId> sort_processes(Catalog& catalog);

}  // namespace cli
