// Where on the host work comes from, as a tree: frames of Python and native code, calls of modules, ranges, operators within each
// other, the CUDA call, and at the end the kernel or copy. Each node has what was spent there itself: time of the host without what
// lies in it, and durations of GPU work.
//
// On a thread each slice lies in the one that began last of those that hold it whole, as in `operators`. Recordings tell with each
// operator the stack of frames that it was called by; of a profile the frames are slices themselves. Nodes of autograd run on a thread
// without Python, or below backward(): they stand under the frames of their forward operator, that is the last one with their sequence
// number on their forward thread. (PyTorch: torch/csrc/autograd/function.h, sequence_nr.)
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
#include "cli/trace/catalog.h"
#include "cli/base/interning.h"

namespace cli {

enum class CallPart : std::uint8_t { process, python, module, native, range, operation, call, work };

constexpr bool is_frame(CallPart part) { return part == CallPart::python || part == CallPart::module || part == CallPart::native; }

// Older profilers record steps as operators.
constexpr bool may_name_step(CallPart part) { return part == CallPart::range || part == CallPart::operation; }
// Returns the name of a training step range with N in place of its number, and other names unchanged.
std::string unnumbered_step(std::string_view name);

class CallPaths {
 public:
  using NodeId = std::uint32_t;  // 0: nowhere

  struct Label {
    CallPart part = CallPart::process;
    bool backward = false;  // of a backward operator, or in one
    StringId name = 0;      // of a module its class; of a profile all that is known of a frame
    StringId file = 0;      // 0: unknown
    StringId path = 0;      // of a module; 0: unknown
    std::int32_t line = 0;  // 0: unknown
    std::uint64_t address = 0;  // of native code, in its file
    bool operator==(const Label&) const = default;
  };
  struct Node {
    NodeId parent = 0;  // less than its own
    Label label;
    ProcessId group = 0;  // by rank: its process
    std::int64_t calls = 0, host_ns = 0, gpu_ns = 0, gpu_count = 0;  // calls of operators: those that key_averages.h counts
  };

  // `by_rank`: each process has a root of its own. `one_step`: a range that names a training step is one node with those of the other steps, so
  // that a tree does not grow with them.
  CallPaths(const AnalysisContext& context, bool by_rank, bool one_step = false);

  // Operators, annotations, frames of Python, calls of CUDA and NCCL and their stacks; those that kinds() names.
  void event(const Event& event, const Facts& facts);
  void work(const GpuWork& work);
  void end_of(ProcessId process);  // TraceObserver::end_of()
  // When all have come: nodes by NodeId, each behind its parent.
  const std::vector<Node>& finish();
  // Returns how many events had no end. They count no host time.
  std::uint64_t endless() const { return endless_; }
  // So far. A node keeps its parent and its label.
  const std::vector<Node>& nodes() const { return nodes_; }
  // Around the operator, annotation or frame that event() was just given: the innermost frame; 0: none.
  NodeId innermost_frame() const { return innermost_frame_; }

  static KindSet kinds();
  // Of a trace that was read. Where it has none, whoever looks for frames or modules alone needs no tree.
  static bool has_frames(const Catalog& catalog);

 private:
  struct Entered {
    NodeId node = 0;
    NodeId frames = 0;  // the innermost frame around it
    StackId stack;      // that it was called by
    StringId operation = 0;  // of an operator its name
    OnlyChild<NodeId> inside;
  };
  struct Called {  // a CUDA call that may launch
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
  std::unordered_map<StringId, StringId> first_steps_;          // by range name: the first name that differs only in the step number
  std::map<std::string, StringId, std::less<>> steps_by_text_;  // the same by unnumbered_step()
  std::vector<Node> nodes_{1};
  std::unordered_map<Key, NodeId, KeyHash> children_;
  std::map<std::pair<NodeId, std::uint32_t>, NodeId> stacks_;  // whole ones, by the root and their StackId
  std::map<std::pair<ProcessId, std::uint64_t>, Newest<Forward>> forwards_;  // by thread as PyTorch numbers it, then by sequence number
  std::vector<Newest<StackId>> call_stacks_;  // by process, then by correlation: of calls that were recorded with a stack
  std::unordered_map<TrackId, NcclStack> nccl_stacks_;  // the last one of each thread
  UtilityOperators utilities_;
  LaunchRanges<Entered, Called> ranges_;
  NodeId innermost_frame_ = 0;
  std::uint64_t endless_ = 0;
};

// What people call a node of a tree of calls (call_paths.h).

// "train.py(12): step", "transformer.h.0.attn (Attention)", "libtorch_cpu.so+0x1a2b", "aten::addmm".
std::string call_text(const Catalog& catalog, const CallPaths::Label& label);

// The class of a module, without what torch.profiler writes before it: "Attention", "Attention_0".
std::string module_class(const Catalog& catalog, const CallPaths::Label& label);

}  // namespace cli
