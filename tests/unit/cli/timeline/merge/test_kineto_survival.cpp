// What Kineto writes, on its way through a merged file: each kind of event, byte for byte, on one axis.
#include <map>
#include <set>

#include "cli/base/output_file.h"
#include "cli/timeline/merge/merge_inputs.h"
#include "tests/unit/catch.h"
#include "tests/unit/cli/formats/reading/read_helpers.h"

using namespace cli;

namespace {

// Of PyTorch 2.x, shortened: libkineto/src/output_json.cpp.
const std::string kEvents = R"J(
  {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 9, "tid": 9, "ts": 1.001, "dur": 9.5, "args": {"External id": 1, "Concrete Inputs": ["", "2"], "Input type": ["float", "Scalar"], "Input Strides": [[8, 1], []], "Input Dims": [[4, 8], []], "Sequence number": 3, "Fwd thread id": 0, "Call stack": "a.py(1): f;b.py(2): <lambda>", "Ev Idx": 0}},
  {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#3", "pid": 9, "tid": 9, "ts": 0.5, "dur": 99.25, "args": {"External id": 2}},
  {"ph": "X", "cat": "gpu_user_annotation", "name": "ProfilerStep#3", "pid": 0, "tid": 7, "ts": 19.999, "dur": 5.002, "args": {"External id": 2}},
  {"ph": "X", "cat": "python_function", "name": "nn.Module: Linear_0", "pid": 9, "tid": 9, "ts": 0.75, "dur": 50, "args": {"Python parent id": null, "Python id": 1, "Python module id": 0, "Python thread": 0}},
  {"ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]", "pid": 9, "tid": 9, "ts": 2.125, "args": {"Total Reserved": 2097152, "Total Allocated": 512, "Bytes": -512, "Addr": 140175411937280, "Device Id": 0, "Device Type": 1}},
  {"ph": "X", "cat": "overhead", "name": "Activity Buffer Request", "pid": -1, "tid": 0, "ts": 0.25, "dur": 1.5},
  {"ph": "X", "cat": "cuda_runtime", "name": "cudaGraphLaunch", "pid": 9, "tid": 9, "ts": 3, "dur": 2, "args": {"External id": 1, "cbid": 311, "correlation": 77}},
  {"ph": "s", "id": 77, "pid": 9, "tid": 9, "ts": 3, "cat": "ac2g", "name": "ac2g"},
  {"ph": "X", "cat": "kernel", "name": "k1", "pid": 0, "tid": 7, "ts": 20, "dur": 1, "args": {"device": 0, "stream": 7, "correlation": 77, "graph id": 1, "graph node id": 4294967297, "Collective name": "allreduce", "In msg nelems": 1024, "dtype": "BFloat16", "Process Group Ranks": "[0, 1]", "Seq": 12, "Comms Id": 16409283746123456789}},
  {"ph": "f", "id": 77, "pid": 0, "tid": 7, "ts": 20, "cat": "ac2g", "name": "ac2g", "bp": "e"},
  {"ph": "X", "cat": "kernel", "name": "k2", "pid": 0, "tid": 7, "ts": 22, "dur": 2.75, "args": {"device": 0, "stream": 7, "correlation": 77, "graph node id": 4294967298}},
  {"ph": "f", "id": 77, "pid": 0, "tid": 7, "ts": 22, "cat": "ac2g", "name": "ac2g", "bp": "e"},
  {"ph": "X", "cat": "cuda_sync", "name": "Stream Wait Event", "pid": 0, "tid": 20, "ts": 4, "dur": 0.001, "args": {"cuda_sync_kind": "Stream Wait Event", "stream": 20, "correlation": 78, "wait_on_stream": 7, "wait_on_cuda_event_record_corr_id": 70, "device": 0}},
  {"ph": "X", "cat": "cuda_sync", "name": "Context Sync", "pid": 0, "tid": 4294967295, "ts": 40, "dur": 3, "args": {"cuda_sync_kind": "Context Sync", "stream": 4294967295, "device": 0}},
  {"ph": "s", "id": 5, "pid": 9, "tid": 9, "ts": 1.001, "cat": "fwdbwd", "name": "fwdbwd"},
  {"ph": "f", "id": 5, "pid": 9, "tid": 10, "ts": 30, "cat": "fwdbwd", "name": "fwdbwd", "bp": "e"},
  {"ph": "i", "s": "g", "name": "Record Window End", "pid": "", "tid": "", "ts": 100})J";

std::string file_of(std::int64_t base_ns, int rank) {
  return "{\"distributedInfo\": {\"rank\": " + std::to_string(rank) +
         "}, \"baseTimeNanoseconds\": " + std::to_string(base_ns) + ", \"traceEvents\": [" + kEvents + "]}";
}

struct Survivor {
  Kind kind;
  std::string name, args;
  std::int64_t start_ns, duration_ns;
  std::uint64_t correlation;
  bool operator<(const Survivor& o) const {
    return std::tie(kind, name, args, start_ns, duration_ns, correlation) <
           std::tie(o.kind, o.name, o.args, o.start_ns, o.duration_ns, o.correlation);
  }
  bool operator==(const Survivor& o) const = default;
};

std::multiset<Survivor> seen(const KeptTrace& trace) {
  std::multiset<Survivor> all;
  for (std::size_t i = 0; i < trace.events.size(); ++i) {
    const Event& e = trace.events[i].event;
    all.insert(
        {e.kind, std::string(trace.name(i)), trace.events[i].facts.args, e.start_ns, e.duration_ns, e.correlation});
  }
  return all;
}

std::unique_ptr<KeptTrace> read(const std::string& path) {
  auto trace = std::make_unique<KeptTrace>();
  open_trace(path)->read(trace->catalog, *trace);
  return trace;
}

// What a merged file of these inputs holds.
std::unique_ptr<KeptTrace> merged(const TestFolder& folder, const std::vector<std::string>& paths) {
  std::vector<TraceInput> inputs;
  for (const std::string& path : paths) inputs.push_back({path, {}});
  const std::string path = (folder.path() / "m.ttrace").string();
  OutputFile out(path);
  merge_inputs(inputs, {false, kDefaultMemory, folder.path().string()}, out);
  out.finish();
  return read(path);
}

}  // namespace

TEST_CASE("every kind of Kineto event comes out of a merged file as it was") {
  const TestFolder folder;
  const std::string path = folder.write("a.json", file_of(1'759'300'074'000'000'000, 0));
  const auto before = read(path), after = merged(folder, {path});
  CHECK(before->events.size() == 17);
  CHECK(seen(*before) == seen(*after));
  const auto count = [&](Kind kind) { return after->process().counts[static_cast<std::size_t>(kind)]; };
  CHECK(count(Kind::cpu_op) == 1);
  CHECK(count(Kind::user_annotation) == 1);
  CHECK(count(Kind::gpu_annotation) == 1);
  CHECK(count(Kind::python_function) == 1);
  CHECK(count(Kind::instant) == 2);
  CHECK(count(Kind::overhead) == 1);
  CHECK(count(Kind::runtime) == 1);
  CHECK(count(Kind::kernel) == 2);
  CHECK(count(Kind::flow) == 5);
  CHECK(count(Kind::sync) == 2);
  CHECK(after->process().kineto_header == "\"distributedInfo\": {\"rank\": 0}");
  CHECK(after->process().state == RecordingState::clean);
}

TEST_CASE("args keep numbers beyond 64 bits with sign, and text as it was") {
  const TestFolder folder;
  const auto after = merged(folder, {folder.write("a.json", file_of(1'759'300'074'000'000'000, 0))});
  std::size_t found = 0;
  for (std::size_t i = 0; i < after->events.size(); ++i) {
    const std::string& args = after->events[i].facts.args;
    found += after->name(i) == "k1" && args.find("\"Comms Id\": 16409283746123456789") != args.npos;
    found += after->name(i) == "aten::mm" && args.find("\"Input Strides\": [[8, 1], []]") != args.npos &&
             args.find("\"Call stack\": \"a.py(1): f;b.py(2): <lambda>\"") != args.npos;
    found += after->name(i) == "[memory]" && args.find("\"Bytes\": -512") != args.npos;
  }
  CHECK(found == 3);
}

TEST_CASE("one launch of a graph keeps all its kernels") {
  const TestFolder folder;
  const auto after = merged(folder, {folder.write("a.json", file_of(1'759'300'074'000'000'000, 0))});
  std::size_t works = 0, ends = 0;
  for (const KeptEvent& kept : after->events) {
    works += kept.event.kind == Kind::kernel && kept.event.correlation == 77;
    ends += kept.event.kind == Kind::flow && kept.event.phase == 'f' && kept.event.correlation == 77;
  }
  CHECK(works == 2);
  CHECK(ends == 2);
}

TEST_CASE("ranks on both sides of the begin of a quarter lie side by side") {
  constexpr std::int64_t kQuarter = 7'948'800'000'000'000;  // 92 days: the third quarter's base is its begin
  constexpr std::int64_t kJuly = 1'751'328'000'000'000'000, kOctober = kJuly + kQuarter;
  const std::string late = R"({"distributedInfo": {"rank": 0}, "baseTimeNanoseconds": )" + std::to_string(kJuly) +
                           R"(, "traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "a", "pid": 1, "tid": 1, "ts": )" +
                           "7948799999999.999" + R"(, "dur": 0.001}]})";
  const std::string early =
      R"({"distributedInfo": {"rank": 1}, "baseTimeNanoseconds": )" + std::to_string(kOctober) +
      R"(, "traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "b", "pid": 2, "tid": 2, "ts": )" + "0.002" +
      R"(, "dur": 1}]})";
  const TestFolder folder;
  const auto after = merged(folder, {folder.write("b.json", early), folder.write("a.json", late)});
  REQUIRE(after->events.size() == 2);
  CHECK(after->name(0) == "a");
  CHECK(after->events[0].event.start_ns == kOctober - 1);
  CHECK(after->events[1].event.start_ns == kOctober + 2);
}

TEST_CASE("metadata and members at their limits go into a merged file together; what is beyond is noted") {
  const TestFolder folder;
  std::string text = "{\"more\": \"" + std::string((4 << 20) - 100, 'm') + "\", \"traceEvents\": [\n";
  const std::string labels(256 << 10, 'l');
  for (int i = 0; i < 300; ++i) {
    text += R"({"ph": "M", "name": "process_labels", "pid": 9, "tid": 0, "args": {"labels": ")" + labels + "\"}},\n";
  }
  const auto after = merged(folder, {folder.write("a.json", text + kEvents + "]}")});
  const Process& process = after->process();
  CHECK(after->events.size() == 17);
  CHECK(process.kineto_header.size() > (4 << 20) - 100);
  CHECK(process.kineto_metadata.size() > (31 << 20));
  REQUIRE(process.notes.size() == 1);
  CHECK_THAT(process.notes[0], contains_text("173 metadata events (M) exceed 32 MiB"));
}
