// What the paths of several files say about which phase of a run each is of.
#pragma once
#include <string>
#include <vector>

namespace cli {

// These are names of phases: no two are the same without their numbers (attempt0 and attempt1 are, and two times).
bool differ_without_numbers(const std::vector<std::string>& labels);

// One for each path: the words in which the names of the files differ, without endings of traces; else those in which the
// innermost directories do. The first that differ without their numbers, else the first that differ, else "". At least two.
std::vector<std::string> phase_labels(const std::vector<std::string>& paths);

}  // namespace cli
