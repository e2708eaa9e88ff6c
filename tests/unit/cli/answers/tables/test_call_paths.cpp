// The tree of calls, where recordings tell the stack of each operator: what is in what, and under whose frames backward operators stand.
#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/answers/tables/call_paths.h"
#include "tests/unit/catch.h"

using namespace cli;

namespace {

class CallTree {
 public:
  CallTree() {
    catalog_.add_process({});
    for (const std::int64_t tid : {1, 2}) catalog_.track(0, TrackKind::thread, 1, tid);
    context_.emplace(AnalysisContext{catalog_, Windows(std::size_t{1}), found_, steps_, chosen_, 0, clocks_, {}});
    context_->calls = &calls_.emplace(catalog_);
    paths_.emplace(*context_, false);
  }

  StackId frame(StackId outer, const char* name, std::uint8_t what = StackFrame::kPython) {
    StackFrame frame;
    frame.outer = outer;
    frame.what = what;
    frame.name = catalog_.strings.intern(name);
    return catalog_.stacks.intern(frame);
  }
  OperatorFacts called_by(StackId stack) const {
    OperatorFacts facts;
    facts.stack = stack;
    return facts;
  }
  OperatorFacts numbered(StackId stack, std::uint64_t sequence, std::uint32_t thread,
                         std::uint64_t forward_thread = 0) const {
    OperatorFacts facts = called_by(stack);
    facts.has = OperatorFacts::kSequenceNumber;
    facts.sequence_number = sequence;
    facts.thread = thread;
    if (forward_thread == 0) return facts;
    facts.has |= OperatorFacts::kForwardThread;
    facts.forward_thread = forward_thread;
    return facts;
  }
  void operation(TrackId thread, std::int64_t start_ns, std::int64_t end_ns, const char* name,
                 const OperatorFacts& facts) {
    Event event;
    event.kind = Kind::cpu_op;
    event.track = thread;
    event.start_ns = start_ns;
    event.duration_ns = end_ns - start_ns;
    event.name = catalog_.strings.intern(name);
    paths_->event(event, facts);
  }

  void nccl(TrackId thread, std::int64_t start_ns, std::int64_t end_ns) {
    Event event;
    event.kind = Kind::nccl;
    event.track = thread;
    event.start_ns = start_ns;
    event.duration_ns = end_ns - start_ns;
    event.name = catalog_.strings.intern("ncclAllReduce");
    paths_->event(event, NcclFacts());
  }
  void stack_of_nccl(TrackId thread, std::int64_t start_ns, StackId stack) {
    Event event;
    event.kind = Kind::stack;
    event.phase = 'i';
    event.track = thread;
    event.start_ns = start_ns;
    StackFacts facts;
    facts.stack = stack;
    facts.reason = static_cast<std::uint8_t>(trace::StackReason::nccl_call);
    paths_->event(event, facts);
  }

  // "outer;inner" -> own ns on the host, of what has some; a backward one ends in '.
  std::map<std::string, std::int64_t> host_ns() {
    std::map<std::string, std::int64_t> sums;
    const auto& nodes = paths_->finish();
    std::vector<std::string> texts(nodes.size());
    for (CallPaths::NodeId id = 1; id < nodes.size(); ++id) {
      const std::string& outer = texts[nodes[id].parent];
      if (nodes[id].label.part == CallPart::process) continue;
      texts[id] = outer + (outer.empty() ? "" : ";") + call_text(catalog_, nodes[id].label) +
                  (nodes[id].label.backward ? "'" : "");
      if (nodes[id].host_ns != 0) sums[texts[id]] += nodes[id].host_ns;
    }
    return sums;
  }

 private:
  Catalog catalog_;
  std::vector<ProcessSteps> found_{1};
  Steps steps_{1};
  std::vector<bool> chosen_{true};
  ProcessClocks clocks_;
  std::optional<LaunchCalls> calls_;
  std::optional<AnalysisContext> context_;
  std::optional<CallPaths> paths_;
};
using Sums = std::map<std::string, std::int64_t>;

}  // namespace

TEST_CASE("call paths: an operator within another one is in it, with the frames that lie between them") {
  CallTree tree;
  const StackId step = tree.frame(0, "step"), model = tree.frame(step, "Model", StackFrame::kModule),
                hook = tree.frame(model, "hook");
  tree.operation(0, 0, 100, "outer", tree.called_by(model));
  tree.operation(0, 10, 30, "inner", tree.called_by(model));
  tree.operation(0, 40, 60, "of a hook", tree.called_by(hook));
  tree.operation(0, 70, 80, "without", {});
  tree.operation(0, 110, 120, "next", tree.called_by(step));
  CHECK(tree.host_ns() == Sums{{"step;Model;outer", 50},
                               {"step;Model;outer;inner", 20},
                               {"step;Model;outer;hook;of a hook", 20},
                               {"step;Model;outer;without", 10},
                               {"step;next", 10}});
}

TEST_CASE(
    "call paths: a backward operator stands under its forward one's frames, on whichever thread, and below backward(), too") {
  CallTree tree;
  const StackId step = tree.frame(0, "step"), model = tree.frame(step, "Model", StackFrame::kModule),
                call = tree.frame(step, "backward");
  tree.operation(0, 0, 10, "mm", tree.numbered(model, 5, 1));
  tree.operation(0, 10, 20, "view", tree.numbered(step, 6, 1));  // made no node: its number is the next one's
  tree.operation(0, 20, 30, "relu", tree.numbered(model, 6, 1));
  tree.operation(1, 30, 40, "mm", tree.numbered(step, 5, 2));  // of another thread, which counts for itself
  tree.operation(0, 50, 60, "ReluBackward", tree.numbered(call, 6, 1, 1));
  tree.operation(0, 52, 55, "mul", tree.called_by(call));
  tree.operation(1, 60, 70, "MmBackward", tree.numbered(0, 5, 2, 1));
  tree.operation(1, 70, 80, "MmBackward", tree.numbered(0, 5, 2, 2));
  tree.operation(1, 80, 90, "LostBackward", tree.numbered(0, 77, 2, 1));
  CHECK(tree.host_ns() == Sums{{"step;Model;mm", 10},
                               {"step;view", 10},
                               {"step;Model;relu", 10},
                               {"step;mm", 10},
                               {"step;Model;ReluBackward'", 7},
                               {"step;Model;ReluBackward';mul'", 3},
                               {"step;Model;MmBackward'", 10},
                               {"step;MmBackward'", 10},
                               {"LostBackward'", 10}});
}

TEST_CASE("call paths: a call of NCCL stands below its stack, whichever came first, and in an operator that holds it") {
  CallTree tree;
  const StackId step = tree.frame(0, "step"), reduce = tree.frame(step, "reduce");
  tree.nccl(0, 0, 10);
  tree.stack_of_nccl(0, 0, reduce);
  tree.stack_of_nccl(1, 0, step);
  tree.operation(0, 4, 7, "copy", {});
  tree.stack_of_nccl(1, 20, reduce);
  tree.nccl(1, 20, 30);
  tree.nccl(1, 40, 50);
  tree.operation(0, 60, 80, "allreduce", tree.called_by(step));
  tree.stack_of_nccl(0, 65, reduce);
  tree.nccl(0, 65, 70);
  CHECK(tree.host_ns() == Sums{{"step;reduce;ncclAllReduce", 17},
                               {"step;reduce;ncclAllReduce;copy", 3},
                               {"ncclAllReduce", 10},
                               {"step;allreduce", 15},
                               {"step;allreduce;ncclAllReduce", 5}});
}

TEST_CASE("call paths: of a profile that tells no threads of autograd, a number on two threads is nobody's") {
  CallTree tree;
  const StackId a = tree.frame(0, "a"), b = tree.frame(0, "b");
  tree.operation(0, 0, 10, "mm", tree.numbered(a, 5, 0));
  tree.operation(1, 10, 20, "mm", tree.numbered(b, 5, 0));
  tree.operation(1, 20, 30, "mm", tree.numbered(b, 5, 0));
  tree.operation(0, 30, 40, "mm", tree.numbered(a, 6, 0));
  tree.operation(1, 50, 60, "MmBackward", tree.numbered(0, 5, 0, 1));
  tree.operation(1, 60, 70, "MmBackward", tree.numbered(0, 6, 0, 1));
  CHECK(tree.host_ns() == Sums{{"a;mm", 20}, {"b;mm", 20}, {"MmBackward'", 10}, {"a;MmBackward'", 10}});
}

TEST_CASE("call paths: frames are stacks of operators and calls, or slices of a profile") {
  Catalog catalog;
  catalog.add_process({});
  catalog.add_process({});
  catalog.processes[0].counts[static_cast<std::size_t>(Kind::cpu_op)] = 3;
  CHECK_FALSE(CallPaths::has_frames(catalog));
  catalog.processes[1].counts[static_cast<std::size_t>(Kind::python_function)] = 1;
  CHECK(CallPaths::has_frames(catalog));
  catalog.processes[1].counts = {};
  StackFrame frame;
  frame.name = catalog.strings.intern("step");
  catalog.stacks.intern(frame);
  CHECK(CallPaths::has_frames(catalog));
}
