// Operators of PyTorch in a recording: their begins and ends joined, their inputs in the words of its profiles.
#include <algorithm>
#include <string>
#include <vector>

#include "cli/formats/ring/operator_bytes.h"
#include "cli/trace/short_name.h"
#include "ring_recording.h"

using namespace cli;
using namespace cli::ring;
using trace::InputKind;

namespace {

constexpr std::uint64_t kFirstTime = 5'000'000'100;
constexpr std::uint8_t kFunction = 0, kBackward = 1, kUser = 7;

trace::OperatorBeginRecord operator_begin(std::uint32_t name, std::uint32_t tid, std::uint32_t id,
                                          std::uint64_t after_ns, std::uint8_t scope = kFunction) {
  auto record = trace::make_record<trace::OperatorBeginRecord>();
  record.scope = scope, record.tid = tid, record.id = id, record.time_mono_ns = kFirstTime + after_ns;
  record.name_ref = name, record.inputs_ref = trace::kNoRef;
  return record;
}

trace::OperatorEndRecord operator_end(std::uint32_t tid, std::uint32_t id, std::uint64_t after_ns) {
  auto record = trace::make_record<trace::OperatorEndRecord>();
  record.tid = tid, record.id = id, record.time_mono_ns = kFirstTime + after_ns;
  return record;
}

// "name duration" of each event, by start.
std::vector<std::string> durations(Recording& recording) {
  KeepingSink sink = recording.read();
  std::sort(sink.all.begin(), sink.all.end(),
            [](const KeptRecord& a, const KeptRecord& b) { return a.event.start_ns < b.event.start_ns; });
  std::vector<std::string> found;
  for (const KeptRecord& each : sink.all)
    found.push_back(std::string(recording.name_of(each.event)) + ' ' + std::to_string(each.event.duration_ns));
  return found;
}

struct Bytes {
  std::string text;
  template <typename T>
  Bytes& add(T value) {
    text.append(reinterpret_cast<const char*>(&value), sizeof(value));
    return *this;
  }
  Bytes& head(InputKind kind, std::uint32_t count = 0, std::uint8_t type = 0, bool contiguous = false) {
    return add(trace::OperatorInput{static_cast<std::uint8_t>(kind), type, contiguous, 0, count});
  }
};

std::string inputs_text(const Bytes& bytes) {
  Recording recording;
  auto record = operator_begin(recording.name("op"), 1, 1, 0);
  record.inputs_ref = recording.name(bytes.text);
  recording.add(record);
  recording.add(operator_end(1, 1, 10));
  return recording.one().args;
}

}  // namespace

TEST_CASE("ring: operators nest, an id is used again, and an end of another thread is found") {
  Recording recording;
  const auto a = recording.name("a"), b = recording.name("b"), c = recording.name("c");
  recording.add(operator_begin(a, 1, 7, 0));
  recording.add(operator_begin(b, 1, 8, 10));
  recording.add(operator_end(1, 8, 20));
  recording.add(operator_begin(c, 1, 8, 30, kUser));
  recording.add(operator_end(2, 8, 45));
  recording.add(operator_end(1, 7, 50));
  CHECK(durations(recording) == std::vector<std::string>{"a 50", "b 10", "c 15"});
  CHECK(recording.process().notes.empty());
}

TEST_CASE("ring: a run of Python's garbage collector is an event of its thread") {
  Recording recording;
  auto record = trace::make_record<trace::GarbageCollectionRecord>();
  record.generation = 2, record.tid = 77, record.start_mono_ns = kFirstTime, record.end_mono_ns = kFirstTime + 1234;
  record.collected = 4'000'000'000, record.uncollectable = 5;
  recording.add(record);
  const KeptRecord kept = recording.one();
  CHECK(kept.event.kind == Kind::garbage_collection);
  CHECK(kept.event.duration_ns == 1234);
  CHECK(recording.name_of(kept.event) == "garbage collection (generation 2)");
  CHECK(kept.args == R"("generation": 2, "collected": 4000000000, "uncollectable": 5)");
  CHECK(recording.process().counts[static_cast<std::size_t>(Kind::garbage_collection)] == 1);
}

TEST_CASE("ring: allocations of PyTorch are events as in a profile") {
  Recording recording;
  auto record = trace::make_record<trace::AllocatorRecord>();
  record.device_type = 1, record.device = 3, record.tid = 77, record.time_mono_ns = kFirstTime;
  record.allocated_bytes = 1'536, record.reserved_bytes = 2'097'152, record.stack_ref = trace::kNoRef;
  record.action = static_cast<std::uint8_t>(trace::AllocatorAction::release);
  record.address = 0x7f00'0000'0200, record.bytes = 512, record.stream = trace::AllocatorRecord::kUnknown;
  recording.add(record);
  record.action = static_cast<std::uint8_t>(trace::AllocatorAction::fail);
  record.address = trace::AllocatorRecord::kUnknown, record.bytes = 1'073'741'824, record.stream = 7;
  recording.add(record);
  const KeepingSink sink = recording.read();
  REQUIRE(sink.all.size() == 2);
  CHECK(recording.name_of(sink.all[0].event) == "[memory]");
  CHECK(
      sink.all[0].args ==
      R"("Device Type": 1, "Device Id": 3, "Total Allocated": 1536, "Total Reserved": 2097152, "Addr": 139637976728064, "Bytes": -512)");
  CHECK(recording.name_of(sink.all[1].event) == "[OutOfMemory]");
  CHECK(
      sink.all[1].args ==
      R"("Device Type": 1, "Device Id": 3, "Total Allocated": 1536, "Total Reserved": 2097152, "Bytes": 1073741824, "Stream Id": 7)");
  CHECK(recording.process().counts[static_cast<std::size_t>(Kind::memory)] == 2);
}

TEST_CASE("ring: an operator that is open has no duration, an end without a begin is counted") {
  Recording recording;
  recording.add(operator_end(1, 9, 0));
  recording.add(operator_begin(recording.name("open"), 1, 7, 10));
  CHECK(durations(recording) == std::vector<std::string>{"open -1"});
  REQUIRE(recording.process().notes.size() == 2);
  CHECK(recording.process().notes[0] == "1 operators without an end: open when the recording ended");
  CHECK(recording.process().notes[1] == "1 operator ends without a start (it was overwritten)");
}

TEST_CASE("ring: scopes are operators or annotations, numbers of autograd are told where they are known") {
  Recording recording;
  auto forward = operator_begin(recording.name("aten::mm"), 1, 1, 0);
  forward.has = trace::kHasSequence, forward.sequence = 12;
  recording.add(forward);
  recording.add(operator_end(1, 1, 5));
  auto backward = operator_begin(recording.name("MmBackward0"), 2, 1, 10, kBackward);
  backward.has = trace::kHasSequence | trace::kHasForwardThread, backward.sequence = 12, backward.forward_thread = 3;
  recording.add(backward);
  recording.add(operator_end(2, 1, 15));
  recording.add(operator_begin(recording.name("Optimizer.step#SGD.step"), 1, 1, 20, kUser));
  recording.add(operator_end(1, 1, 25));
  const KeepingSink sink = recording.read();
  REQUIRE(sink.all.size() == 3);
  CHECK((sink.all[0].event.kind == Kind::cpu_op && sink.all[0].args == "\"Sequence number\": 12"));
  CHECK(
      (sink.all[1].event.kind == Kind::cpu_op && sink.all[1].args == "\"Sequence number\": 12, \"Fwd thread id\": 3"));
  CHECK((sink.all[2].event.kind == Kind::user_annotation && sink.all[2].args.empty()));
}

TEST_CASE(
    "ring: stacks share what they have in common, and modules have the name that is known when the file is read") {
  Recording recording;
  const auto frame = [&](trace::FrameKind what, std::string_view name, std::string_view file, std::int32_t line,
                         std::uint64_t instance = 0) {
    auto record = trace::make_record<trace::FrameRecord>();
    record.what = static_cast<std::uint8_t>(what), record.line = line, record.instance = instance;
    record.name_ref = recording.name(name);
    record.file_ref = file.empty() ? trace::kNoRef : recording.name(file);
    return recording.define(record);
  };
  recording.define(trace::make_record<trace::IdentityRecord>());
  const auto outer = frame(trace::FrameKind::python, "step", "train.py", 12);
  const auto model = frame(trace::FrameKind::module, "Model", "", 0, 0x7f00),
             layer = frame(trace::FrameKind::module, "Layer", "", 0, 0x7f80);
  const auto inner = frame(trace::FrameKind::python, "forward", "layer.py", 3);
  const auto named = [&](std::uint64_t instance, std::string_view name) {
    auto record = trace::make_record<trace::ModuleNameRecord>();
    record.instance = instance, record.root = 0x7f00, record.name_ref = recording.name(name);
    recording.define(record);
  };
  named(0x7f00, "");
  named(0x7f80, "layers.0");
  std::uint32_t id = 0;
  const auto call = [&](const std::vector<std::uint32_t>& frames) {
    ++id;
    auto begin = operator_begin(recording.name("op"), 1, id, 100 * id);
    begin.thread = 5;
    begin.stack_ref = recording.name({reinterpret_cast<const char*>(frames.data()), 4 * frames.size()});
    recording.add(begin);
    recording.add(operator_end(1, id, 100 * id + 10));
  };
  call({outer});
  call({inner, layer, model, outer});
  recording.add(operator_begin(recording.name("op"), 1, 9, 900));  // of nobody's stack
  recording.add(operator_end(1, 9, 910));
  const KeepingSink sink = recording.read();
  REQUIRE(sink.all.size() == 3);
  CHECK(sink.all[0].args == R"("Call stack": "train.py(12): step")");
  CHECK(sink.all[1].args ==
        R"("Module Hierarchy": "layers.0", "Call stack": "layer.py(3): forward;train.py(12): step")");
  CHECK(sink.all[2].args.empty());
  const Catalog& catalog = recording.catalog;
  CHECK(catalog.stacks.size() == 1 + 4);
  const StackId stack = sink.all[1].facts.get<OperatorFacts>()->stack;
  const StackFrame& module = catalog.stacks[catalog.stacks[stack].outer];
  CHECK((module.what == StackFrame::kModule && module.instance == 0x7f80));
  CHECK(frame_text(catalog, module) == "layers.0 (Layer)");
  CHECK(frame_text(catalog, catalog.stacks[module.outer]) == "Model");
  CHECK(sink.all[0].facts.get<OperatorFacts>()->stack == catalog.stacks[module.outer].outer);
  CHECK(sink.all[1].facts.get<OperatorFacts>()->thread == 5);
}

TEST_CASE("ring: a stack that names what is no frame is damage") {
  Recording recording;
  recording.define(trace::make_record<trace::IdentityRecord>());
  auto begin = operator_begin(recording.name("op"), 1, 1, 0);
  begin.stack_ref = recording.name({"\x20\0\0\0", 4});
  recording.add(begin);
  CHECK_THROWS_WITH(recording.read(), contains_text("points to no frame"));
}

TEST_CASE("ring: inputs in PyTorch's words") {
  Bytes bytes;
  bytes.head(InputKind::tensor, 2, 6, true).add<std::int64_t>(3).add<std::int64_t>(4);
  bytes.head(InputKind::tensor, 2, 15)
      .add<std::int64_t>(3)
      .add<std::int64_t>(4)
      .add<std::int64_t>(1)
      .add<std::int64_t>(3);
  bytes.head(InputKind::none)
      .head(InputKind::integer)
      .add<std::int64_t>(-2)
      .head(InputKind::real)
      .add(1.0)
      .head(InputKind::boolean, 1);
  bytes.head(InputKind::number_list, 2).add<std::int64_t>(1).add<std::int64_t>(2);
  bytes.head(InputKind::tensor_list, 1).head(InputKind::tensor, 1, 6, true).add<std::int64_t>(5).head(InputKind::other);
  CHECK(inputs_text(bytes) ==
        R"("Input Dims": [[3,4],[3,4],[],[],[],[],[],[[5]],[]], )"
        R"("Input Strides": [[4,1],[1,3],[],[],[],[],[],[[1]],[]], )"
        R"("Input type": ["float","c10::BFloat16","","Scalar","Scalar","Scalar","ScalarList","TensorList",""], )"
        R"("Concrete Inputs": ["","","","-2","1.","True","[1, 2]","",""])");
}

TEST_CASE("ring: bytes that are no inputs end the list, wherever they are cut") {
  Bytes bytes;
  bytes.head(InputKind::integer)
      .add<std::int64_t>(5)
      .head(InputKind::tensor, 2, 6)
      .add<std::int64_t>(3)
      .add<std::int64_t>(4)
      .add<std::int64_t>(4)
      .add<std::int64_t>(1);
  bytes.head(InputKind::tensor, 0xffffffff)
      .head(InputKind::tensor_list, 0xffffffff)
      .head(InputKind::number_list, 0xffffffff);
  for (std::size_t length = 0; length <= bytes.text.size(); ++length) {
    Catalog catalog;
    const auto inputs = read_operator_inputs(std::string_view(bytes.text).substr(0, length), catalog);
    const std::uint32_t count = inputs == 0 ? 0 : catalog.operator_inputs[inputs].count;
    CHECK(count == (length < 16 ? 0u : length < 56 ? 1u : 2u));
  }
}
