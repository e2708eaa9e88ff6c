// Finds and reads the input traces of a command.
#pragma once
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/timeline/gpu/name_rules.h"
#include "cli/timeline/merge/ordered_trace.h"
#include "cli/timeline/select/selector.h"
#include "cli/trace/steps.h"

namespace cli {

struct InputOptions {
  std::vector<std::string> paths;
  std::vector<std::string> ranks;  // "N=FILE"
  std::string run;                 // --run: NAME, "latest" or "all"; "" for the latest run of each directory
  bool with_nsys = false;          // export reports of Nsight Systems with the program nsys
};

// Returns the inputs as words of a shell command, for a next command.
std::string inputs_text(const InputOptions& inputs);

// Returns each file once, named files first. For a directory, returns the files of one run (merge/runs.h) and prints on
// stderr which of several runs it is and what was skipped. Throws Error: (usage) if there is no input, a --rank is
// malformed or names a file that has another rank, or --run names no run; (cannot_open) if a path matches nothing or
// contains no trace.
std::vector<TraceInput> find_inputs(const InputOptions& options);

// Reads all inputs as one trace, aligned as by merge, and prints the warnings. `own_times`: see MergeOptions. Data that
// does not fit into memory goes to a file next to `output` or in $TMPDIR. Throws the errors of order_traces().
std::unique_ptr<OrderedTrace> read_inputs(const std::vector<TraceInput>& inputs, std::size_t memory_mib,
                                          const std::string& output, EventChoice choice = {}, bool own_times = false);

// Parses "3=traces/a.ring". Throws Error (usage).
TraceInput parse_rank(const std::string& text);

// Returns one canonical path for all names of a file, which need not exist yet.
std::string real_path(const std::string& path);

// Throws Error (usage) if the output would replace an input.
void refuse_input_as_output(const std::vector<TraceInput>& inputs, const std::string& output);

// Reads the rules file of --classes. Returns nullopt if `classes` is empty. Throws Error, also if `output` is that
// file.
std::optional<NameRules> read_class_rules(const std::string& classes, const std::string& output);

// Print each note or warning as a line on stderr.
void print_notes(const std::vector<std::string>& notes);
void print_warnings(const std::vector<std::string>& warnings);

// Returns the output file for a command without -o: output_name() of the first input. Throws Error (usage) if that file
// exists, because the user did not choose the name and the file may be the source of the trace.
std::string default_output(const InputOptions& options, const std::vector<TraceInput>& inputs,
                           const std::string& extension);

// Returns a name in the working directory that differs from the input: a/traces/ with ".json.gz" becomes
// traces.json.gz. Extensions of traces are replaced.
std::string output_name(const std::string& input, const std::string& extension);

// Facts about a trace that are needed before a part of it can be selected.
struct FoundFacts {
  TraceFacts facts;
  std::vector<ProcessSteps> steps_found;  // by ProcessId and each process's own clock; the same steps as in `facts`
  bool walked = false;                    // true if the whole trace was walked
};

// Returns the facts. Walks the trace unless its file contains them. Losses before the first event extend the range if
// their time is known. `also` receives all events of the walk, if there is one (FoundFacts::walked).
FoundFacts find_facts(OrderedTrace& trace, EventSink* also = nullptr);

// Passes the events that the selector needs before it can select. Does nothing if it needs none.
void survey(OrderedTrace& trace, Selector& selector, const Wanted& wanted);

}  // namespace cli
