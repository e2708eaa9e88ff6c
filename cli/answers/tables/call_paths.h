// The host call paths of work, as a tree: Python and native frames, module calls, ranges, nested operators, the CUDA
// call, and the kernel or copy as a leaf. Each node has its own time only: host time excluding its children, and the
// duration of GPU work.
//
// The parent of a slice is the slice of its thread that began last among those that contain it, as in `operators`. A
// recording contains the stack of frames with each operator; in a profile the frames are slices themselves. Autograd
// nodes run on a thread without Python or below backward(). They are placed under the frames of their forward operator:
// the last one with the same sequence number on their forward thread. (PyTorch: torch/csrc/autograd/function.h,
// sequence_nr.)
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cli/answers/tables/analysis.h"
#include "cli/answers/tables/key_averages.h"
#include "cli/answers/tables/launch_ranges.h"
#include "cli/base/interning.h"
#include "cli/trace/catalog.h"

namespace cli {

enum class CallPart : std::uint8_t { process, python, module, native, range, operation, call, work };

constexpr bool is_frame(CallPart part) {
  return part == CallPart::python || part == CallPart::module || part == CallPart::native;
}

// Older profilers record steps as operators.
constexpr bool may_name_step(CallPart part) { return part == CallPart::range || part == CallPart::operation; }
// Returns the name of a training step range with N in place of its number, and other names unchanged.
std::string unnumbered_step(std::string_view name);

class CallPaths {
 public:
  using NodeId = std::uint32_t;  // 0 for none

  struct Label {
    CallPart part = CallPart::process;
    bool backward = false;      // a backward operator or a node inside one
    StringId name = 0;          // the class of a module; in a profile, the whole name of a frame
    StringId file = 0;          // 0 if unknown
    StringId path = 0;          // modules only; 0 if unknown
    std::int32_t line = 0;      // 0 if unknown
    std::uint64_t address = 0;  // of native code, in its file
    bool operator==(const Label&) const = default;
  };
  struct Node {
    NodeId parent = 0;  // less than the node's own id
    Label label;
    ProcessId group = 0;  // the process, if the tree is by rank
    // Calls of operators are those that key_averages.h counts
    std::int64_t calls = 0, host_ns = 0, gpu_ns = 0, gpu_count = 0;
  };

  // `by_rank` gives each process a root of its own. `one_step` merges ranges that name a training step into one node,
  // so that the tree does not grow with the number of steps.
  CallPaths(const AnalysisContext& context, bool by_rank, bool one_step = false);

  // Receives operators, annotations, Python frames, CUDA and NCCL calls and their stacks: the events of kinds().
  void event(const Event& event, const Facts& facts);
  void work(const GpuWork& work);
  void end_of(ProcessId process);  // TraceObserver::end_of()
  // Called after the last event. Returns the nodes by NodeId; parents come before their children.
  const std::vector<Node>& finish();
  // Returns how many events had no end. They count no host time.
  std::uint64_t endless() const { return endless_; }
  // Nodes so far. A node's parent and label never change.
  const std::vector<Node>& nodes() const { return nodes_; }
  // Returns the innermost frame around the operator, annotation or frame last passed to event(); 0 if none.
  NodeId innermost_frame() const { return innermost_frame_; }

  static KindSet kinds();
  // Checked after the trace is read. If false, code that needs only frames or modules can skip the tree.
  static bool has_frames(const Catalog& catalog);

 private:
  struct Entered {
    NodeId node = 0;
    NodeId frames = 0;       // innermost enclosing frame
    StackId stack;           // stack of its call
    StringId operation = 0;  // name of an operator
    OnlyChild<NodeId> inside;
  };
  struct Called {  // a CUDA call that may launch work
    NodeId node = 0;
    std::int64_t ns = 0, count = 0;
  };
  struct NcclStack {
    std::int64_t start_ns = 0;  // of the call
    StackId stack;
  };
  struct Forward {
    NodeId frames = 0;
    TrackId track = 0;
  };
  struct Key {
    NodeId parent;
    Label label;
    bool operator==(const Key&) const = default;
  };
  struct KeyHash {
    std::size_t operator()(const Key& key) const;
  };

  NodeId root(ProcessId process);
  NodeId child(NodeId parent, const Label& label);
  NodeId under(NodeId parent, StackId stack, StackId outermost);
  bool is_called_by(StackId stack, StackId caller) const;
  Entered place(const Event& event, const OperatorFacts* op, const Entered& around);
  NodeId forward_frames(ProcessId process, const OperatorFacts& op);
  void remember_forward(const Event& event, ProcessId process, const OperatorFacts& op, NodeId frames);
  Entered called_by(const Event& call);
  void enter(const Event& event, const Facts* facts);
  StringId first_step(StringId name);
  void stand_below(const Event& in_call);

  const AnalysisContext& context_;
  const Windows host_;
  bool by_rank_, one_step_;
  std::unordered_map<StringId, StringId>
      first_steps_;  // by range name: the first name that differs only in the step number
  std::map<std::string, StringId, std::less<>> steps_by_text_;  // the same by unnumbered_step()
  std::vector<Node> nodes_{1};
  std::unordered_map<Key, NodeId, KeyHash> children_;
  std::map<std::pair<NodeId, std::uint32_t>, NodeId> stacks_;  // whole stacks, by root and StackId
  // By PyTorch's thread number, then by sequence number
  std::map<std::pair<ProcessId, std::uint64_t>, Newest<Forward>> forwards_;
  std::vector<Newest<StackId>> call_stacks_;            // calls recorded with a stack, by process, then by correlation
  std::unordered_map<TrackId, NcclStack> nccl_stacks_;  // the last one of each thread
  UtilityOperators utilities_;
  LaunchRanges<Entered, Called> ranges_;
  NodeId innermost_frame_ = 0;
  std::uint64_t endless_ = 0;
};

// Names of nodes in a call tree (call_paths.h).

// "train.py(12): step", "transformer.h.0.attn (Attention)", "libtorch_cpu.so+0x1a2b", "aten::addmm".
std::string call_text(const Catalog& catalog, const CallPaths::Label& label);

// Returns the class of a module without torch.profiler's prefix: "Attention", "Attention_0".
std::string module_class(const Catalog& catalog, const CallPaths::Label& label);

}  // namespace cli
