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
#include <functional>
#include <map>
#include <unordered_map>

#include "cli/answers/tables/key_averages.h"
#include "cli/answers/tables/launch_ranges.h"
#include "cli/base/interning.h"
#include "cli/base/text.h"
#include "cli/timeline/select/step_name.h"
#include "cli/trace/names.h"
#include "cli/trace/short_name.h"

namespace cli {

enum class CallPart : std::uint8_t { process, python, module, native, range, operation, call, work };

constexpr bool is_frame(CallPart part) {
  return part == CallPart::python || part == CallPart::module || part == CallPart::native;
}

// Older profilers record steps as operators.
constexpr bool may_name_step(CallPart part) { return part == CallPart::range || part == CallPart::operation; }
// Returns the name of a training step range with N in place of its number, and other names unchanged.
inline std::string unnumbered_step(std::string_view name) {
  if (!step_name(name)) return std::string(name);
  const std::size_t count = name.rfind('/');  // "step 12/2315"
  if (count != name.npos && count > 0 && is_digit(name[count - 1])) name = name.substr(0, count);
  return std::string(name.substr(0, name.find_last_not_of("0123456789") + 1)) + "N";
}

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
  CallPaths(const AnalysisContext& context, bool by_rank, bool one_step = false)
      : context_(context),
        host_(context.windows.host()),
        by_rank_(by_rank),
        one_step_(one_step),
        call_stacks_(context.catalog.processes.size(), Newest<StackId>(kMostCallStacks)),
        utilities_(context.catalog.strings),
        ranges_(context) {}

  // Receives operators, annotations, Python frames, CUDA and NCCL calls and their stacks: the events of kinds().
  void event(const Event& event, const Facts& facts) {
    const auto on_call = [&](const Event& call) { enter(call, nullptr); };
    if (const auto* stack = facts.get<StackFacts>()) {
      if (stack->reason == static_cast<std::uint8_t>(trace::StackReason::nccl_call))
        nccl_stacks_[event.track] = {event.start_ns, stack->stack};
      if (event.correlation == 0) return;
      ranges_.settle(event.start_ns, on_call);
      call_stacks_[context_.catalog.tracks[event.track].process].add(event.correlation, stack->stack);
      return stand_below(event);
    }
    if (!is_slice(event)) return;
    ranges_.settle(event.start_ns, on_call);
    is_api_call(event.kind) || event.kind == Kind::nccl ? ranges_.call(event) : enter(event, &facts);
  }
  void work(const GpuWork& work) {
    ranges_.settle([&](const Event& call) { enter(call, nullptr); });
    const Called* launcher = ranges_.of(work);
    const Label label{.part = CallPart::work, .name = work.name};
    Node& node = nodes_[child(launcher != nullptr ? launcher->node : root(work.process), label)];
    node.gpu_ns += share_ns(context_.windows, work);
    ++node.gpu_count;
  }
  // See TraceObserver::end_of().
  void end_of(ProcessId process) {
    ranges_.end_of(process, [&](const Event& call) { enter(call, nullptr); });
    call_stacks_[process] = Newest<StackId>(kMostCallStacks);
    forwards_.erase(forwards_.lower_bound({process, 0}), forwards_.lower_bound({process + 1, 0}));
    std::erase_if(nccl_stacks_,
                  [&](const auto& each) { return context_.catalog.tracks[each.first].process == process; });
  }
  // Called after the last event. Returns the nodes by NodeId; parents come before their children.
  const std::vector<Node>& finish() {
    ranges_.settle([&](const Event& call) { enter(call, nullptr); });
    return nodes_;
  }
  // Returns how many events had no end. They count no host time.
  std::uint64_t endless() const { return endless_; }
  // Nodes so far. A node's parent and label never change.
  const std::vector<Node>& nodes() const { return nodes_; }
  // Returns the innermost frame around the operator, annotation or frame last passed to event(); 0 if none.
  NodeId innermost_frame() const { return innermost_frame_; }

  static KindSet kinds() {
    return kinds_of({Kind::cpu_op, Kind::user_annotation, Kind::python_function, Kind::runtime, Kind::driver,
                     Kind::nccl, Kind::stack});
  }
  // Checked after the trace is read. If false, code that needs only frames or modules can skip the tree.
  static bool has_frames(const Catalog& catalog) {
    const auto has_slices = [](const Process& process) {
      return process.counts[static_cast<std::size_t>(Kind::python_function)] != 0;
    };
    return catalog.stacks.size() > 1 || std::any_of(catalog.processes.begin(), catalog.processes.end(), has_slices);
  }

 private:
  static constexpr TrackId kSeveral = ~TrackId{0};         // operators of several threads have this number
  static constexpr std::size_t kMostCallStacks = 1 << 12;  // per process, for calls that may still come
  static constexpr std::size_t kMostForwards = 1 << 16;    // per thread, for backward operators that may still come

  static Label label_of(const StackFrame& frame) {
    const CallPart part = frame.what == StackFrame::kModule   ? CallPart::module
                          : frame.what == StackFrame::kNative ? CallPart::native
                                                              : CallPart::python;
    return {part, false, frame.name, frame.file, frame.path, frame.line, part == CallPart::native ? frame.instance : 0};
  }
  // `facts` is null for a CUDA or NCCL call.
  static CallPart part_of(const Event& event, const Facts* facts) {
    if (event.kind == Kind::cpu_op) return CallPart::operation;
    if (event.kind == Kind::user_annotation) return CallPart::range;
    if (event.kind != Kind::python_function) return CallPart::call;
    const auto* frame = facts != nullptr ? facts->get<FrameFacts>() : nullptr;
    return frame != nullptr && frame->module_id != FrameFacts::kNone ? CallPart::module : CallPart::python;
  }

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
    std::size_t operator()(const Key& key) const {
      std::uint64_t hash = key.parent;
      const auto add = [&](std::uint64_t value) {
        hash = (hash ^ value) * 0xc2b2ae3d27d4eb4fu;
        hash ^= hash >> 29;
      };
      const Label& label = key.label;
      add(static_cast<std::uint64_t>(label.part) << 1 | label.backward);
      add(std::uint64_t{label.name} << 32 | label.file);
      add(std::uint64_t{label.path} << 32 | static_cast<std::uint32_t>(label.line));
      add(label.address);
      return hash;
    }
  };

  NodeId root(ProcessId process) {
    const ProcessId group = by_rank_ ? process : 0;
    const NodeId id = child(0, {.line = static_cast<std::int32_t>(group)});
    nodes_[id].group = group;
    return id;
  }
  NodeId child(NodeId parent, const Label& label) {
    Label own = label;
    own.backward = own.backward || nodes_[parent].label.backward;
    const auto [known, is_new] = children_.try_emplace({parent, own}, static_cast<NodeId>(nodes_.size()));
    if (is_new) nodes_.push_back({parent, own, nodes_[parent].group});
    return known->second;
  }
  // Adds the frames of `stack` below `parent`, from the innermost up to but excluding the frame `outermost`.
  NodeId under(NodeId parent, StackId stack, StackId outermost) {
    std::vector<StackId> frames;
    for (; stack != 0 && stack != outermost; stack = context_.catalog.stacks[stack].outer) frames.push_back(stack);
    for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame)
      parent = child(parent, label_of(context_.catalog.stacks[*frame]));
    return parent;
  }
  bool is_called_by(StackId stack, StackId caller) const {
    while (stack > caller) stack = context_.catalog.stacks[stack].outer;  // callers come first
    return stack == caller;
  }
  Entered place(const Event& event, const OperatorFacts* op, const Entered& around) {
    const ProcessId process = context_.catalog.tracks[event.track].process;
    Entered in = around;
    if (in.node == 0) in.node = root(process);
    if (op == nullptr) return in;
    // The backward pass starts here, wherever backward() was called
    if (is_backward(*op) && !nodes_[around.node].label.backward) {
      if (const NodeId frames = forward_frames(process, *op); frames != 0) {
        in.node = in.frames = frames;
        in.stack = op->stack;
        return in;
      }
    }
    if (op->stack != 0 && op->stack != around.stack) {
      if (around.stack != 0 && is_called_by(op->stack, around.stack)) {
        in.frames = under(in.node, op->stack, around.stack);
      } else {
        const NodeId top = root(process);
        const auto [known, is_new] = stacks_.try_emplace({top, op->stack}, 0);
        if (is_new) known->second = under(top, op->stack, 0);
        in.frames = known->second;
      }
      in.node = in.frames;
      in.stack = op->stack;
    }
    return in;
  }
  NodeId forward_frames(ProcessId process, const OperatorFacts& op) {
    const auto number = static_cast<std::uint64_t>(op.sequence_number);
    // Profiles do not contain PyTorch's thread numbers. There, the forward operator is used only if it is unique.
    for (const std::uint64_t thread : {op.forward_thread, std::uint64_t{0}}) {
      const auto found = forwards_.find({process, thread});
      if (found == forwards_.end()) continue;
      const auto place = found->second.find(number);
      if (place != Newest<Forward>::kNone) return found->second[place].frames;
    }
    return 0;
  }
  void remember_forward(const Event& event, ProcessId process, const OperatorFacts& op, NodeId frames) {
    Newest<Forward>& forwards = forwards_.try_emplace({process, op.thread}, kMostForwards).first->second;
    const auto known = forwards.find(op.sequence_number);
    const bool is_another = known != Newest<Forward>::kNone && forwards[known].track != event.track;
    forwards.add(op.sequence_number, {is_another ? 0 : frames, is_another ? kSeveral : event.track});
  }
  // An NCCL call without a known enclosing slice.
  Entered called_by(const Event& call) {
    const auto known = nccl_stacks_.find(call.track);
    if (known == nccl_stacks_.end() || known->second.start_ns != call.start_ns) return {};
    const StackId stack = known->second.stack;
    const NodeId frames = under(root(context_.catalog.tracks[call.track].process), stack, 0);
    return {frames, frames, stack, 0, {}};
  }
  // `facts` is null for a CUDA or NCCL call.
  void enter(const Event& event, const Facts* facts) {
    const ProcessId process = context_.catalog.tracks[event.track].process;
    const std::int64_t end_ns = slice_end(event, kLatest_ns);
    Entered* const holds = ranges_.around(event.track, event.start_ns, end_ns);
    const Entered around = holds == nullptr ? Entered{} : *holds;
    const auto* op = facts != nullptr ? facts->get<OperatorFacts>() : nullptr;
    Entered in = place(event, op, event.kind == Kind::nccl && around.node == 0 ? called_by(event) : around);
    Label label{.part = part_of(event, facts), .name = event.name};
    if (one_step_ && may_name_step(label.part)) label.name = first_step(label.name);
    label.backward = op != nullptr && is_backward(*op);
    in.node = child(in.node, label);
    if (is_frame(label.part)) in.frames = in.node;
    innermost_frame_ = in.frames;
    if (op != nullptr && (op->has & OperatorFacts::kSequenceNumber) != 0 && !is_backward(*op))
      remember_forward(event, process, *op, in.frames);
    const std::int64_t ns = event.duration_ns < 0 ? 0 : host_.inside_ns(process, event.start_ns, end_ns);
    endless_ += event.duration_ns < 0;
    nodes_[in.node].host_ns += ns;
    if (around.node != 0) nodes_[around.node].host_ns -= ns;
    const bool counts = host_.hold(process, event.start_ns, end_ns);
    in.operation = label.part == CallPart::operation ? event.name : 0;
    in.inside = {};
    const bool is_utility = in.operation != 0 && utilities_.holds(event.name);
    const bool is_first = !is_utility && event.kind != Kind::nccl && holds != nullptr && holds->operation != 0 &&
                          holds->inside.begin([this](NodeId other) { ++nodes_[other].calls; });
    if (is_first && holds->operation == in.operation && counts) {
      holds->inside.merge(in.node);
    } else {
      nodes_[in.node].calls += counts && !is_utility;
    }
    if (label.part == CallPart::call && event.correlation != 0) {
      ranges_.launches(event, {in.node, ns, counts});
      stand_below(event);
    }
    ranges_.open(event.track, {event.start_ns, end_ns, in});
  }
  StringId first_step(StringId name) {
    const auto [known, is_new] = first_steps_.try_emplace(name, name);
    if (is_new && step_name(context_.catalog.strings[name]))
      known->second = steps_by_text_.try_emplace(unnumbered_step(context_.catalog.strings[name]), name).first->second;
    return known->second;
  }
  // Used if no operator around the call has more frames. Because clocks differ, the stack that was taken in the call may
  // arrive before it.
  void stand_below(const Event& in_call) {
    const ProcessId process = context_.catalog.tracks[in_call.track].process;
    Called* call = ranges_.of(in_call.track, in_call.correlation);
    if (call == nullptr || nodes_[nodes_[call->node].parent].label.part != CallPart::process) return;
    const auto stack = call_stacks_[process].find(in_call.correlation);
    if (stack == Newest<StackId>::kNone) return;
    const Label label = nodes_[call->node].label;  // nodes move when others are added
    const NodeId below = child(under(root(process), call_stacks_[process][stack], 0), label);
    for (const auto& [node, sign] : {std::pair(call->node, -1), std::pair(below, 1)}) {
      nodes_[node].host_ns += sign * call->ns;
      nodes_[node].calls += sign * call->count;
    }
    call->node = below;
  }

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
inline std::string call_text(const Catalog& catalog, const CallPaths::Label& label) {
  if (!is_frame(label.part)) return std::string(catalog.strings[label.name]);
  StackFrame frame;
  frame.what = label.part == CallPart::module   ? StackFrame::kModule
               : label.part == CallPart::native ? StackFrame::kNative
                                                : StackFrame::kPython;
  frame.name = label.name;
  frame.file = label.file;
  frame.path = label.path;
  frame.line = label.line;
  frame.instance = label.address;
  return frame_text(catalog, frame);
}

// Returns the class of a module without torch.profiler's prefix: "Attention", "Attention_0".
inline std::string module_class(const Catalog& catalog, const CallPaths::Label& label) {
  StackFrame frame;
  frame.what = StackFrame::kModule;
  frame.name = label.name;
  return frame_text(catalog, frame);
}

}  // namespace cli
