// A profile of torch.profiler, written event by event in microseconds, and what one rule finds in it: through the reader, the search for
// steps and all tables, as `tracetool diagnose --only RULE` does.
#pragma once
#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/answers/rules/diagnose.h"
#include "cli/commands/inputs.h"
#include "tests/unit/cli/formats/reading/read_helpers.h"

namespace cli {

class MadeProfile {
 public:
  static constexpr std::int64_t kStream = 7, kThread = 2;

  explicit MadeProfile(std::string_view gpu = "NVIDIA A100-SXM4-40GB") : gpu_(gpu) {}

  void slice(std::string_view category, std::string_view name, double start_us, double end_us, std::int64_t pid,
             std::int64_t tid, const std::string& args = "") {
    events_ += fmt::format(
        R"(,{}{{"ph":"X","cat":"{}","name":"{}","pid":{},"tid":{},"ts":{:.3f},"dur":{:.3f},"args":{{{}}}}})", "\n",
        category, name, pid, tid, start_us, end_us - start_us, args);
  }
  // The host's.
  void step(std::int64_t number, double start_us, double end_us) {
    range("ProfilerStep#" + std::to_string(number), start_us, end_us);
  }
  void range(const std::string& name, double start_us, double end_us) {
    slice("user_annotation", name, start_us, end_us, 1, kThread);
  }
  void op(std::string_view name, double start_us, double end_us, const std::string& args = "") {
    slice("cpu_op", name, start_us, end_us, 1, kThread, args);
  }
  // Its correlation.
  std::int64_t call(std::string_view name, double start_us, double end_us, std::int64_t thread = kThread) {
    slice("cuda_runtime", name, start_us, end_us, 1, thread, fmt::format(R"("correlation":{})", ++correlation_));
    return correlation_;
  }
  // The GPU's, launched by that call.
  void kernel(std::string_view name, double start_us, double end_us, std::int64_t correlation = 0,
              const std::string& more = "", std::int64_t stream = kStream) {
    slice("kernel", name, start_us, end_us, 0, stream,
          fmt::format(R"("device":0,"stream":{},"correlation":{},"grid":[8,1,1],"block":[64,1,1]{})", stream,
                      correlation, more));
  }
  void copy(std::string_view name, double start_us, double end_us, std::int64_t correlation, std::int64_t bytes,
            std::int64_t stream = kStream) {
    slice("gpu_memcpy", name, start_us, end_us, 0, stream,
          fmt::format(R"("device":0,"stream":{},"correlation":{},"bytes":{})", stream, correlation, bytes));
  }
  void memory(double at_us, std::int64_t allocated, std::int64_t reserved, const std::string& more = "") {
    events_ += fmt::format(
        R"(,{}{{"ph":"i","s":"t","cat":"cpu_instant_event","name":"[memory]","pid":1,"tid":{},"ts":{:.3f},"args":{{"Device Type":1,"Device Id":0,)"
        R"("Total Allocated":{},"Total Reserved":{}{}}}}})",
        "\n", kThread, at_us, allocated, reserved, more);
  }
  // An allocation, or a release if `bytes` is negative. `allocated`: in use after it.
  void block(double at_us, std::int64_t address, std::int64_t bytes, std::int64_t allocated) {
    memory(at_us, allocated, allocated, fmt::format(R"(,"Addr":{},"Bytes":{})", address, bytes));
  }
  void function(std::string_view name, double start_us, double end_us) {
    slice("python_function", name, start_us, end_us, 1, kThread);
  }

  // One rank, from 0 on. `memory_bytes` and `capability`: of its GPU.
  std::string text(std::int64_t rank = 0) const {
    return fmt::format(
        R"({{"deviceProperties":[{{"id":0,"name":"{}","totalGlobalMem":{},"computeMajor":{},"computeMinor":0}}],"distributedInfo":{{"rank":{},"world_size":2}},)"
        R"("baseTimeNanoseconds":1700000000000000000,"traceEvents":[{{"ph":"M","name":"process_name","pid":1,"tid":0,"args":{{"name":"train"}}}}{}]}})",
        gpu_, memory_bytes, capability, rank, events_);
  }

  std::int64_t memory_bytes = std::int64_t{40} << 30, capability = 8;

 private:
  std::string gpu_, events_;
  std::int64_t correlation_ = 0;
};

// Of one rank, or of several.
inline rules::Diagnosis diagnosis_of(std::string_view rule, const std::vector<const MadeProfile*>& ranks,
                                     const Selection& selection = {}) {
  rules::DiagnosisRequest request;
  for (const rules::RuleEntry& entry : rules::rule_entries()) {
    if (entry.name == rule) request.rules.push_back(&entry);
  }
  request.selection = selection;
  request.inputs = "made/";
  const TestFolder folder;
  std::vector<TraceInput> inputs;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    inputs.push_back(
        {folder.write(fmt::format("rank{}.json", rank), ranks[rank]->text(static_cast<std::int64_t>(rank))),
         std::nullopt});
  }
  MergeOptions options;
  options.choice = rules::diagnosed_events(request.rules);
  options.own_times = true;
  options.scratch_directory = folder.path().string();
  const auto trace = order_traces(inputs, options);
  const FoundFacts found = find_facts(*trace);
  return rules::diagnose(*trace, found.facts, found.steps_found, request);
}
inline std::vector<rules::Finding> findings_of(std::string_view rule, const MadeProfile& profile,
                                               const Selection& selection = {}) {
  return diagnosis_of(rule, {&profile}, selection).findings;
}

inline bool has_text(std::string_view text, std::string_view part) { return text.find(part) != text.npos; }

}  // namespace cli
