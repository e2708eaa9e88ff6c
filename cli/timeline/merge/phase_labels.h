// What the paths of several files say about which phase of a run each is of.
#pragma once
#include <string>
#include <vector>

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

}  // namespace cli
