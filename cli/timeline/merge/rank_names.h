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
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/trace/catalog.h"

namespace cli {

// What the words "rank" and "worker" tell, for each path.
std::vector<std::optional<std::int64_t>> rank_names(const std::vector<std::string>& paths);

// Gives a rank from a file's name to the profile from index `first` on, if its content has none.
void give_named_rank(Catalog& catalog, std::size_t first, std::optional<std::int64_t> rank);

// Gives the profiles that have no rank yet those that their names count, if they do. Returns a line for the user: which
// ranks were counted, or that ranks are unknown and how to say them; "" if there is nothing to say.
std::string count_ranks(Catalog& catalog);

// The names of directories, without the directory of a rank ("step19/rank0" is "step19") if these count 0 to N-1 there.
std::vector<std::string> without_rank_directories(const std::vector<std::string>& names);

}  // namespace cli
