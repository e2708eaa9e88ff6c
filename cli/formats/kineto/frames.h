// Derives the calls of Python functions and torch.nn.Modules, as torch.profiler writes them, from the stacks of
// operators. Only the operators in a call are known: a call begins with its first operator and ends with the last one
// before an operator that has another caller or an unknown stack. It is some nanoseconds wider than its content, if
// there is space, so that readers recognize the outer call. A frame continues as the same call while its callers are at
// the same lines. Successive calls from one line are one call.
//
//   stacks of operators     main 3 > f 9     main 3 > f 12 > g 1     main 4 > f 9     main 4 > f 9
//   calls                   [ main                                                               ]
//                           [ f                             ]        [ f                         ]
//                                            [ g            ]
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cli/trace/catalog.h"
#include "cli/trace/event.h"
#include "cli/trace/payload.h"

namespace cli::kineto {

class Frames {
 public:
  struct Call {
    std::string_view name;  // "train.py(12): step", "nn.Module: Linear_0"
    std::string_view ids;   // those of its operators
    std::int64_t start_ns = 0, end_ns = 0;
    std::uint64_t id = 0;
    std::optional<std::uint64_t> parent_id, module_id;  // module_id: number of the module in its class
  };
  // Called at the end of a call, inner calls first. The argument is valid only during the call.
  using OnCall = std::function<void(const Call&)>;

  Frames(const Catalog& catalog, OnCall on_call) : catalog_(catalog), on_call_(std::move(on_call)) {}

  // Adds an operator or annotation; all of one process have to be added, by time. `ids` is its location in the output
  // and has to be valid until finish(); "" if it is not written. Calls without a written operator are not reported.
  void operation(const Event& event, const OperatorFacts& op, std::int64_t end_ns, std::string_view ids);
  // Adds another range of a thread, in order of time with operation(). Calls that begin in it end in it, so that they
  // nest.
  void range(TrackId track, std::int64_t start_ns, std::int64_t end_ns);
  void finish();

 private:
  struct Open {  // a call
    StackId stack = 0;
    std::uint64_t id = 0;
    std::int64_t start_ns = 0, end_ns = 0;
    std::int32_t line = 0;  // at its beginning
    std::optional<std::uint64_t> module_id;
    bool holds_any = false;
  };
  struct Range {  // an operator, annotation or other range that has not ended
    std::int64_t end_ns = 0;
    std::size_t calls = 0;  // number that continue from its begin to its end
    bool is_operator = false;
    bool is_unfinished = false;  // its end is unknown
    bool holds_any = false;      // is or contains an operator that is written
  };
  struct Thread {
    std::string_view ids;
    std::vector<Open> calls;    // outermost first
    std::vector<Range> ranges;  // outermost first
    std::int64_t last_ns = 0;   // last begin or end on the thread
  };

  void end_ranges(Thread& thread, std::int64_t now_ns);
  void drop_unfinished(Thread& thread, std::size_t kept);
  void end_calls(Thread& thread, std::size_t kept, std::int64_t latest_ns);
  static std::size_t calls_around(const Thread& thread);
  void change_calls(Thread& thread, std::size_t kept, std::int64_t now_ns);
  void begin_range(Thread& thread, Range range);
  void begin_calls(Thread& thread, std::int64_t border_ns, std::int64_t now_ns);
  void take_path(StackId stack);
  std::size_t common(const Thread& thread) const;
  void tell(const Thread& thread, std::size_t at);
  std::optional<std::uint64_t> module_id(const StackFrame& frame);

  const Catalog& catalog_;
  OnCall on_call_;
  std::unordered_map<TrackId, Thread> threads_;
  std::map<std::pair<StringId, std::uint64_t>, std::uint64_t> modules_;  // by class and object
  std::unordered_map<StringId, std::uint64_t> classes_;                  // number of modules by class
  std::vector<StackId> path_;                                            // of the operator, outermost first
  std::string name_;
  std::uint64_t last_id_ = 0;
};

}  // namespace cli::kineto
