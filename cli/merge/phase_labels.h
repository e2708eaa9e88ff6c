// What the paths of several files say about which phase of a run each is of.
#pragma once
#include <string>
#include <vector>

namespace cli {

// For each name the part in which they differ, word by word; endings of traces left out. `names`: at least two.
std::vector<std::string> differing_parts(const std::vector<std::string>& names);

// The same of their folders: the innermost one whose names differ; "" where there is none.
std::vector<std::string> differing_folders(const std::vector<std::string>& names);

// These are names of phases: no two are the same when words that only count (numbers, times, attempt0, exp1, run2,
// restart3) are left out, and none is nothing but these.
bool name_phases_apart(const std::vector<std::string>& labels);

// The words of each that count are all that there is: attempt0, attempt1; never so for "".
bool only_count(const std::vector<std::string>& labels);

// One for each file: the differing part of the name, else of the folder, whichever names phases; else what differs.
std::vector<std::string> phase_labels(const std::vector<std::string>& names);

}  // namespace cli
