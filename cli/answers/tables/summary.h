// Summary of a trace on one screen, from the tables of several analyses, with the largest loss first.
#pragma once
#include <set>

#include "cli/answers/tables/analysis.h"

namespace cli {

// Returns the analyses whose tables summary_text() uses. Missing tables shorten the summary.
std::vector<const AnalysisEntry*> summary_analyses();

// Returns the summary. `tables` are the results of summary_analyses() for all ranks and steps. The time of all GPUs is
// divided into compute, exposed communication, copies and memsets that run alone, and idle; per GPU if there are at
// most kMostGpus. `inputs` are the input files as words of a command line, for the next command at the end of the text.
std::string summary_text(const std::vector<ResultTable>& tables, const std::string& inputs);

// Returns the same as sentences with full stops: how the GPUs spent their time and where most of the loss is; the
// steps; the rank that is late, unless there is one GPU. One sentence if there is no GPU work.
std::vector<std::string> summary_sentences(const std::vector<ResultTable>& tables);

// Returns the steps that are warm-up on any rank; the other ranks wait for that rank. Reads the table steps.
std::set<std::int64_t> warm_up_numbers(const std::vector<ResultTable>& tables);

}  // namespace cli
