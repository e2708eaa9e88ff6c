// "rank 3", "ranks 0-7, 9": the ranks of a run in few words.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace cli {

// Sorts them and leaves out what comes twice; those below 0 are "unknown". "" for none.
std::string rank_list(std::vector<std::int64_t> ranks);
// " of rank 3"; "" if the rank is unknown.
std::string of_rank(std::int64_t rank);

// "0-7, 9": numbers from 0, sorted, each once.
std::string number_list(std::vector<std::int64_t> numbers);

}  // namespace cli
