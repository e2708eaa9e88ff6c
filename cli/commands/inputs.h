// Which traces a command reads.
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
  std::string run;                 // --run: NAME, "latest" or "all"; "": the latest of each directory
};

// As a shell takes them, for a command that is to be typed next.
std::string inputs_text(const InputOptions& inputs);

// Each file once; what was named comes first. Of a directory, the files of one run (merge/runs.h). Says on stderr which run
// of several it is and what was skipped. Throws Error: (usage) when there is no input, a --rank is
// malformed or names a file that has another already, or --run names no run; (cannot_open) when a path matches nothing
// or nothing in it is a trace.
std::vector<TraceInput> find_inputs(const InputOptions& options);

// All inputs as one trace, aligned as merge does it, and says its warnings. `own_times`: see MergeOptions. What does not fit into memory goes beside `output`, or to $TMPDIR. Throws
// as order_traces() does.
std::unique_ptr<OrderedTrace> read_inputs(const std::vector<TraceInput>& inputs, std::size_t memory_mib,
                                          const std::string& output, EventChoice choice = {}, bool own_times = false);

// "3=traces/a.ring" -> its two parts. Throws Error (usage).
TraceInput parse_rank(const std::string& text);

// One of all names of a file, which need not be there yet.
std::string real_path(const std::string& path);

// Throws Error (usage) when the output would replace one of the inputs.
void refuse_input_as_output(const std::vector<TraceInput>& inputs, const std::string& output);

// Reads the rules file of --classes; nullopt if `classes` is empty. Throws Error, also if `output` is that file.
std::optional<NameRules> read_class_rules(const std::string& classes, const std::string& output);

// Each on stderr, in a line.
void print_notes(const std::vector<std::string>& notes);
void print_warnings(const std::vector<std::string>& warnings);

// Returns the output file for a command without -o: output_name() of the first input. Throws Error (usage) if the file exists, because the user
// did not choose that name and the file may be the source of the trace.
std::string default_output(const InputOptions& options, const std::vector<TraceInput>& inputs, const std::string& extension);

// A name in the working directory: a/traces/ and ".json.gz" -> traces.json.gz; endings of traces are replaced. Never
// the input.
std::string output_name(const std::string& input, const std::string& extension);

// What has to be known of a trace before a part of it can be chosen.
struct FoundFacts {
  TraceFacts facts;
  std::vector<ProcessSteps> steps_found;  // by ProcessId, by each process's own clock; `facts` has the same steps
  bool walked = false;                    // the trace, all of it
};

// Walks the trace, unless it is a file that says it. It begins with what was lost before the first event, where the time of that is known.
// `also` gets all events where there is a walk (FoundFacts::walked), and none where there is not.
FoundFacts find_facts(OrderedTrace& trace, EventSink* also = nullptr);

// What the selector has to see before it judges; nothing where it needs no survey.
void survey(OrderedTrace& trace, Selector& selector, const Wanted& wanted);

}  // namespace cli
