// Calls of Python from the stacks of operators (frames.h).
#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "cli/formats/kineto/frames.h"
#include "tests/unit/catch.h"

using namespace cli;
using namespace cli::kineto;

namespace {

// Calls are told as "name start-end", of modules "nn.Module: ...", the call around behind "in".
struct Told {
  Told() : frames(catalog, [this](const Frames::Call& call) { tell(call); }) {}

  // Frames as "f:12", the outermost first; a module as "Linear@instance".
  StackId stack(std::initializer_list<std::string_view> texts) {
    StackId outer = 0;
    for (const std::string_view text : texts) {
      StackFrame frame;
      frame.outer = outer;
      const std::size_t colon = text.find(':'), at = text.find('@');
      frame.name = catalog.strings.intern(text.substr(0, std::min(colon, at)));
      frame.what = at == text.npos ? StackFrame::kPython : StackFrame::kModule;
      if (at == text.npos) {
        frame.file = catalog.strings.intern("a.py");
        frame.line = std::stoi(std::string(text.substr(colon + 1)));
      } else {
        frame.instance = std::stoull(std::string(text.substr(at + 1)));
      }
      outer = catalog.stacks.intern(frame);
    }
    return outer;
  }
  void add(std::int64_t start_ns, std::int64_t end_ns, StackId stack, Kind kind = Kind::cpu_op,
           std::string_view ids = "ids", TrackId track = 0, std::int64_t duration_ns = 0) {
    Event event;
    event.kind = kind;
    event.track = track;
    event.start_ns = start_ns;
    event.duration_ns = duration_ns;
    OperatorFacts op;
    op.stack = stack;
    frames.operation(event, op, end_ns, ids);
  }
  std::vector<std::string> all() {
    frames.finish();
    return told;
  }
  void tell(const Frames::Call& call) {
    std::string text = fmt::format("{} {}-{} #{}", call.name, call.start_ns, call.end_ns, call.id);
    if (call.parent_id) text += fmt::format(" in #{}", *call.parent_id);
    if (call.module_id) text += fmt::format(" module {}", *call.module_id);
    told.push_back(text);
  }

  Catalog catalog;
  std::vector<std::string> told;
  Frames frames;
};

using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("kineto frames: a call goes on while those around it stand at the same lines", "[kineto_frames]") {
  Told t;
  t.add(1000, 1100, t.stack({"main:3", "f:9"}));
  t.add(2000, 2100, t.stack({"main:3", "f:12", "g:1"}));
  t.add(3000, 3100, t.stack({"main:4", "f:9"}));
  t.add(4000, 4100, t.stack({"main:4", "f:9"}));
  CHECK(t.all() == Texts{"a.py(1): g 1996-2104 #3 in #2", "a.py(9): f 996-2108 #2 in #1",
                         "a.py(9): f 2996-4104 #4 in #1", "a.py(3): main 992-4108 #1"});
}

TEST_CASE("kineto frames: a stack that is not known ends all calls", "[kineto_frames]") {
  Told t;
  t.add(1000, 1100, t.stack({"main:3"}));
  t.add(2000, 2100, 0);
  t.add(3000, 3100, t.stack({"main:3"}));
  CHECK(t.all() == Texts{"a.py(3): main 996-1104 #1", "a.py(3): main 2996-3104 #2"});
}

TEST_CASE("kineto frames: what is called in an operator lies in it, and does not end its calls", "[kineto_frames]") {
  Told t;
  t.add(1000, 5000, t.stack({"main:3"}));
  t.add(2000, 2100, t.stack({"main:3", "hook:5"}));
  t.add(3000, 3100, 0);
  t.add(4000, 5000, t.stack({"other:1"}));  // cannot be
  t.add(6000, 6100, t.stack({"main:4"}));
  CHECK(t.all() == Texts{"a.py(5): hook 1996-2104 #2 in #1", "a.py(3): main 996-6104 #1"});
}

TEST_CASE("kineto frames: an operator without an end has ended where its callers are gone", "[kineto_frames]") {
  Told t;
  t.add(1000, 1100, t.stack({"main:3", "f:1"}));
  t.add(2000, 9000, t.stack({"main:3", "f:2"}), Kind::cpu_op, "ids", 0, kUnknownDuration);
  t.add(2200, 2300, t.stack({"main:3", "f:2"}));
  t.add(3000, 3100, t.stack({"main:4", "g:1"}));
  t.add(4000, 4100, t.stack({"main:4", "g:1"}));
  CHECK(t.all() == Texts{"a.py(1): f 996-2304 #2 in #1", "a.py(1): g 2996-4104 #3 in #1", "a.py(3): main 992-4108 #1"});
}

TEST_CASE("kineto frames: calls do not reach over the end of an annotation that they began in", "[kineto_frames]") {
  Told t;
  t.add(1000, 1100, t.stack({"main:3"}));
  t.add(2000, 3000, t.stack({"main:4", "enter:7"}), Kind::user_annotation);
  t.add(2200, 2300, t.stack({"main:5", "f:1"}));
  t.add(4000, 4100, t.stack({"main:5", "f:1"}));
  CHECK(t.all() ==
        Texts{"a.py(1): f 2196-2304 #3 in #1", "a.py(1): f 3996-4104 #4 in #1", "a.py(3): main 996-4108 #1"});
}

TEST_CASE("kineto frames: calls that began in another range end in it", "[kineto_frames]") {
  Told t;
  t.add(1000, 1100, t.stack({"main:3"}));
  for (const std::int64_t at : {2000, 3000}) {
    t.frames.range(0, at, at + 1000);
    t.add(at + 100, at + 200, t.stack({"main:4", "step:1"}));
    t.add(at + 300, at + 400, t.stack({"main:4", "step:2"}));
  }
  t.add(5000, 5100, t.stack({"main:4", "step:2"}));
  CHECK(t.all() == Texts{"a.py(1): step 2096-2404 #2 in #1", "a.py(1): step 3096-3404 #3 in #1",
                         "a.py(2): step 4996-5104 #4 in #1", "a.py(3): main 996-5108 #1"});
}

TEST_CASE("kineto frames: an annotation without operators belongs to no call", "[kineto_frames]") {
  Told t;
  t.add(1000, 1100, t.stack({"main:3", "f:1"}));
  t.add(1102, 3000, t.stack({"main:3", "f:2", "enter:7"}), Kind::user_annotation);
  CHECK(t.all() == Texts{"a.py(1): f 996-1100 #2 in #1", "a.py(3): main 992-1100 #1"});
}

TEST_CASE("kineto frames: where there is little room calls are hardly wider", "[kineto_frames]") {
  Told t;
  t.add(1000, 1100, t.stack({"main:3", "f:1"}));
  t.add(1105, 1200, t.stack({"main:4", "g:1", "h:1"}));
  t.add(1200, 1300, t.stack({"main:5"}));
  const Texts told = t.all();
  CHECK(told == Texts{"a.py(1): f 996-1100 #2 in #1", "a.py(1): h 1101-1200 #4 in #3", "a.py(1): g 1100-1200 #3 in #1",
                      "a.py(3): main 992-1304 #1"});
}

TEST_CASE("kineto frames: modules are numbered by their class, in the order of their first calls", "[kineto_frames]") {
  Told t;
  for (const std::int64_t at : {1000, 2000}) {
    t.add(at, at + 100, t.stack({"Linear@70"}));
    t.add(at + 200, at + 300, t.stack({"Norm@5"}));
    t.add(at + 400, at + 500, t.stack({"Linear@60"}));
  }
  const Texts told = t.all();
  REQUIRE(told.size() == 6);
  CHECK(told[0] == "nn.Module: Linear_0 996-1104 #1 module 0");
  CHECK(told[1] == "nn.Module: Norm_0 1196-1304 #2 module 0");
  CHECK(told[2] == "nn.Module: Linear_1 1396-1504 #3 module 1");
  CHECK(told[3] == "nn.Module: Linear_0 1996-2104 #4 module 0");
}

TEST_CASE("kineto frames: operators that are not written end calls, and are in none", "[kineto_frames]") {
  Told t;
  t.add(1000, 1100, t.stack({"main:3", "f:1"}));
  t.add(2000, 2100, t.stack({"main:4", "g:1"}), Kind::cpu_op, "");
  t.add(3000, 3100, t.stack({"main:4", "f:1"}));
  t.add(4000, 4100, t.stack({"main:4", "f:1"}), Kind::cpu_op, "");
  CHECK(t.all() == Texts{"a.py(1): f 996-1104 #2 in #1", "a.py(1): f 2996-3104 #4 in #1", "a.py(3): main 992-3108 #1"});
}

TEST_CASE("kineto frames: each thread has its own", "[kineto_frames]") {
  Told t;
  t.add(1000, 1500, t.stack({"main:3"}), Kind::cpu_op, "one", 0);
  t.add(1100, 1200, t.stack({"run:3"}), Kind::cpu_op, "two", 1);
  t.add(2000, 2100, t.stack({"main:3"}), Kind::cpu_op, "one", 0);
  Texts told = t.all();
  std::sort(told.begin(), told.end());
  CHECK(told == Texts{"a.py(3): main 996-2104 #1", "a.py(3): run 1096-1204 #2"});
}
