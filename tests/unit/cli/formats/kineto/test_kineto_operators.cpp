// External ids and flows of autograd (operators.h).
#include <optional>

#include "cli/formats/kineto/operators.h"
#include "tests/unit/catch.h"

using namespace cli;
using namespace cli::kineto;

namespace {

Event kineto_event(Kind kind, std::int64_t start_ns, std::int64_t duration_ns, std::uint64_t correlation = 0,
                   TrackId track = 0) {
  Event event;
  event.kind = kind;
  event.phase = 'X';
  event.track = track;
  event.start_ns = start_ns;
  event.duration_ns = duration_ns;
  event.correlation = correlation;
  return event;
}

struct Autograd {
  std::optional<Backward::Forward> forward(std::int64_t at_ns, std::uint64_t sequence, std::uint32_t thread,
                                           std::string_view ids = "there") {
    OperatorFacts op;
    op.has = OperatorFacts::kSequenceNumber;
    op.sequence_number = sequence;
    op.thread = thread;
    return backward.forward_of(kineto_event(Kind::cpu_op, at_ns, 5), op, ids);
  }
  // The start of its forward operator; 0: none.
  std::int64_t node(std::uint64_t sequence, std::uint64_t forward_thread, std::string_view name = "MmBackward0",
                    std::string_view ids = "there") {
    OperatorFacts op;
    op.has = OperatorFacts::kSequenceNumber | OperatorFacts::kForwardThread;
    op.sequence_number = sequence;
    op.forward_thread = forward_thread;
    op.thread = 9;
    Event event = kineto_event(Kind::cpu_op, 1000, 5);
    event.name = catalog.strings.intern(name);
    const auto found = backward.forward_of(event, op, ids);
    return found ? found->start_ns : 0;
  }

  Catalog catalog;
  Backward backward{catalog};
};

}  // namespace

TEST_CASE("kineto operators: calls and their work have the id of the innermost operator", "[kineto_operators]") {
  ExternalIds ids;
  CHECK(ids.of(kineto_event(Kind::runtime, 0, 5, 90)) == 0);
  CHECK(ids.of(kineto_event(Kind::user_annotation, 10, 100)) == 1);
  CHECK(ids.of(kineto_event(Kind::runtime, 11, 1, 91)) == 0);  // an annotation is no operator
  CHECK(ids.of(kineto_event(Kind::cpu_op, 20, 50)) == 2);
  CHECK(ids.of(kineto_event(Kind::cpu_op, 30, 10)) == 3);
  CHECK(ids.of(kineto_event(Kind::cpu_op, 30, 10, 0, 1)) == 4);
  CHECK(ids.of(kineto_event(Kind::runtime, 31, 4, 92)) == 3);
  CHECK(ids.of(kineto_event(Kind::driver, 32, 2, 92)) == 3);
  CHECK(ids.of(kineto_event(Kind::runtime, 31, 4, 93, 1)) == 4);
  CHECK(ids.of(kineto_event(Kind::runtime, 40, 4, 94)) == 2);  // the inner one ends there
  CHECK(ids.of(kineto_event(Kind::runtime, 70, 4, 95)) == 0);
  CHECK(ids.of(kineto_event(Kind::kernel, 500, 4, 92, 2)) == 3);
  CHECK(ids.of(kineto_event(Kind::memcpy, 500, 4, 93, 2)) == 4);
  CHECK(ids.of(kineto_event(Kind::kernel, 500, 4, 94, 2)) == 2);
  CHECK(ids.of(kineto_event(Kind::kernel, 500, 4, 91, 2)) == 0);
  CHECK(ids.of(kineto_event(Kind::kernel, 500, 4, 95, 2)) == 0);
  CHECK(ids.of(kineto_event(Kind::cpu_op, 600, kUnknownDuration)) == 5);
  CHECK(ids.of(kineto_event(Kind::runtime, 9000, 4, 96)) == 5);
}

TEST_CASE("kineto operators: a backward operator has the last forward one with its number and thread",
          "[kineto_operators]") {
  Autograd a;
  CHECK(!a.forward(10, 7, 1));
  CHECK(!a.forward(20, 7, 1));
  CHECK(!a.forward(30, 7, 2));
  CHECK(!a.forward(40, 8, 1));
  CHECK(a.node(7, 1) == 20);
  CHECK(a.node(7, 2) == 30);
  CHECK(a.node(9, 1) == 0);
  CHECK(a.node(8, 3) == 0);
}

TEST_CASE("kineto operators: one flow for a forward operator, to the node itself", "[kineto_operators]") {
  Autograd a;
  a.forward(10, 7, 1);
  CHECK(a.node(7, 1, "autograd::engine::evaluate_function: MmBackward0") == 0);
  CHECK(a.node(7, 1, "MmBackward0", "") == 0);  // not written
  CHECK(a.node(7, 1) == 10);
  CHECK(a.node(7, 1) == 0);
}

TEST_CASE("kineto operators: no flow from what is not written or has no number", "[kineto_operators]") {
  Autograd a;
  a.forward(10, 7, 1);
  a.forward(20, 7, 1, "");
  CHECK(a.node(7, 1) == 0);
  a.forward(30, 8, 0);  // on a thread whose number is not known
  CHECK(a.node(8, 0) == 0);
  CHECK(!a.backward.forward_of(kineto_event(Kind::cpu_op, 40, 5), OperatorFacts(), "there"));
}
