// Calls of Python and of torch.nn.Modules as torch.profiler writes them, from the stacks that operators were called by. What is known of a
// call is the operators in it: it begins with the first of them and ends with the last before an operator that was called from elsewhere,
// or whose stack is unknown, and is wider than what lies in it by some nanoseconds, where there is room, so that readers see which is the
// outer one. A frame goes on as the same call while those around it stand at the same lines; calls that follow each other from one line are one.
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
    std::string_view ids;   // of its operators
    std::int64_t start_ns = 0, end_ns = 0;
    std::uint64_t id = 0;
    std::optional<std::uint64_t> parent_id, module_id;  // the module's number among those of its class
  };
  // A call that is over, those in it before; lives during the call.
  using OnCall = std::function<void(const Call&)>;

  Frames(const Catalog& catalog, OnCall on_call) : catalog_(catalog), on_call_(std::move(on_call)) {}

  // Each operator and annotation of one process, by time. `ids`: where it is written, until finish(); "": it is not. Calls that hold no
  // operator that is written are not told.
  void operation(const Event& event, const OperatorFacts& op, std::int64_t end_ns, std::string_view ids);
  // Another range of a thread: calls that began in it end in it, so that they nest. By time, with operation().
  void range(TrackId track, std::int64_t start_ns, std::int64_t end_ns);
  void finish();

 private:
  struct Open {  // a call
    StackId stack = 0;
    std::uint64_t id = 0;
    std::int64_t start_ns = 0, end_ns = 0;
    std::int32_t line = 0;  // at its begin
    std::optional<std::uint64_t> module_id;
    bool holds_any = false;
  };
  struct Range {  // an operator, annotation or other range that has not ended
    std::int64_t end_ns = 0;
    std::size_t calls = 0;  // that go on from its begin to its end
    bool is_operator = false;
    bool is_unfinished = false;  // its end is not known
    bool holds_any = false;  // is an operator that is written, or holds one
  };
  struct Thread {
    std::string_view ids;
    std::vector<Open> calls;    // the outermost first
    std::vector<Range> ranges;  // likewise
    std::int64_t last_ns = 0;   // what was seen last began or ended
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
  std::unordered_map<StringId, std::uint64_t> classes_;                  // how many of each
  std::vector<StackId> path_;                                            // of the operator, the outermost first
  std::string name_;
  std::uint64_t last_id_ = 0;
};

}  // namespace cli::kineto
