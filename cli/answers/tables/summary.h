// What matters of a trace, on one screen: made of the tables of some analyses, the largest loss first.
#pragma once
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "cli/answers/tables/analysis.h"

namespace cli {

// Whose tables summary_text() takes; fewer of them say less.
std::vector<const AnalysisEntry*> summary_analyses();

// The tables as these analyses make them of all ranks and steps. Of a partition of the time of all GPUs: compute, exposed
// communication, copies and memsets that run alone, idle. Per GPU, where there are at most kMostGpus.
// `inputs` are the inputs as words of a command line. The text ends with a next command that has them.
std::string summary_text(const std::vector<ResultTable>& tables, const std::string& inputs);

// The same in three sentences, each with its period: what the GPUs' time was and where most of what is lost went; the steps; who is
// late, unless there is one GPU. One sentence if there is no GPU work.
std::vector<std::string> summary_sentences(const std::vector<ResultTable>& tables);

// Returns the steps that are warm-up on any rank, because the other ranks wait for it. Reads the table steps.
std::set<std::int64_t> warm_up_numbers(const std::vector<ResultTable>& tables);

}  // namespace cli
