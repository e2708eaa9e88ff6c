#include <cstdint>
#include <string>

#include "cli/formats/kineto/header.h"
#include "tests/unit/catch.h"
#include "tests/unit/cli/formats/reading/read_helpers.h"

using namespace cli;
using namespace cli::kineto;

namespace {

std::string slice(const std::string& category, const std::string& rest, const std::string& phase = "X") {
  return R"({"ph":")" + phase + R"(","cat":")" + category + R"(","name":"n",)" + rest + "}";
}

Kind kind_of(const std::string& category) {
  return read_events(slice(category, R"("ts":1,"dur":1,"pid":0,"tid":7)"))->events.at(0).event.kind;
}

}  // namespace

TEST_CASE("a kernel comes with its time, track, correlation and args") {
  const auto trace = read_kineto(R"J({"baseTimeNanoseconds": 1000000000000000000, "traceEvents": [
    {"ph": "X", "cat": "kernel", "name": "void f<\"x\">()", "pid": 3, "tid": 20, "ts": 12.345, "dur": 0.512,
     "args": { "External id": 7, "device": 2, "stream": 20, "correlation": 18446744073709551615, "bytes": 5 }}]})J");
  REQUIRE(trace->events.size() == 1);
  const Event& event = trace->events[0].event;
  CHECK(event.kind == Kind::kernel);
  CHECK(event.phase == 'X');
  CHECK(event.start_ns == 1000000000000012345);
  CHECK(event.duration_ns == 512);
  CHECK(event.correlation == UINT64_MAX);
  CHECK_FALSE(event.has_bytes);
  CHECK(event.json.args_complete);
  CHECK(event.category == 0);
  CHECK(trace->name(0) == "void f<\"x\">()");
  CHECK(trace->events[0].args ==
        R"("External id": 7, "device": 2, "stream": 20, "correlation": 18446744073709551615, "bytes": 5)");
  CHECK(trace->track(0).kind == TrackKind::stream);
  CHECK(trace->track(0).group == 2);
  CHECK(trace->track(0).id == 20);
  CHECK(trace->process().counts[static_cast<std::size_t>(Kind::kernel)] == 1);
  CHECK(trace->process().first_ns == 1000000000000012345);
  CHECK(trace->process().last_ns == 1000000000000012857);
  CHECK(trace->process().state == RecordingState::clean);
  CHECK(trace->process().notes.empty());
}

TEST_CASE("categories of all times have their kind") {
  CHECK(kind_of("kernel") == Kind::kernel);
  CHECK(kind_of("Kernel") == Kind::kernel);
  CHECK(kind_of("gpu_memcpy") == Kind::memcpy);
  CHECK(kind_of("Memcpy") == Kind::memcpy);
  CHECK(kind_of("gpu_memset") == Kind::memset);
  CHECK(kind_of("Memset") == Kind::memset);
  CHECK(kind_of("cuda_runtime") == Kind::runtime);
  CHECK(kind_of("Runtime") == Kind::runtime);
  CHECK(kind_of("cuda_driver") == Kind::driver);
  CHECK(kind_of("cpu_op") == Kind::cpu_op);
  CHECK(kind_of("Operator") == Kind::cpu_op);
  CHECK(kind_of("user_annotation") == Kind::user_annotation);
  CHECK(kind_of("gpu_user_annotation") == Kind::gpu_annotation);
  CHECK(kind_of("cuda_sync") == Kind::sync);
  CHECK(kind_of("cuda_event") == Kind::cuda_event);
  CHECK(kind_of("overhead") == Kind::overhead);
  CHECK(kind_of("python_function") == Kind::python_function);
  CHECK(kind_of("mtia_runtime") == Kind::other);
}

TEST_CASE("a category of another spelling travels with the event") {
  const auto trace = read_events(slice("Kernel", R"("ts":1,"dur":1,"pid":0,"tid":"stream 7")") + "," +
                                 slice("mtia_runtime", R"("ts":1,"dur":1,"pid":5,"tid":6)") + "," +
                                 slice("kernel", R"("ts":1,"dur":1,"pid":0,"tid":7)"));
  CHECK(trace->category(0) == "Kernel");
  CHECK(trace->category(1) == "mtia_runtime");
  CHECK(trace->category(2).empty());
  CHECK(trace->events[0].event.track == trace->events[2].event.track);
  CHECK(trace->track(0).id == 7);
}

TEST_CASE("numbers may be strings, negative, or have an exponent") {
  const auto trace = read_events(
      R"({"ph":"X","cat":"cuda_runtime","name":"a","pid":"67844","tid":"4093687616","ts":"5.5","dur":"1e-3",
          "args":{"correlation":"77"}},
         {"ph":"X","cat":"overhead","name":"b","pid":-1,"tid":0,"ts":-2.5,"dur":1},
         {"ph":"X","cat":"gpu_memcpy","name":"c","pid":0,"tid":7,"ts":1e3,"dur":1.0005,"args":{"bytes":"4096"}})");
  CHECK(trace->events[0].event.start_ns == 5500);
  CHECK(trace->events[0].event.duration_ns == 1);
  CHECK(trace->events[0].event.correlation == 77);
  CHECK(trace->track(0).kind == TrackKind::thread);
  CHECK(trace->track(0).group == 67844);
  CHECK(trace->track(0).id == 4093687616);
  CHECK(trace->events[1].event.start_ns == -2500);
  CHECK(trace->track(1).group == -1);
  CHECK(trace->events[2].event.start_ns == 1000000);
  CHECK(trace->events[2].event.duration_ns == 1000);
  CHECK(trace->events[2].event.has_bytes);
  CHECK(trace->events[2].event.bytes == 4096);
}

TEST_CASE("the base time counts wherever it stands") {
  const std::string events = R"("traceEvents":[{"name":"process_labels","ph":"M","ts":0,"pid":0,"tid":0,"args":{}},
    {"ph":"X","cat":"cpu_op","name":"a","ts":7.001,"dur":1,"pid":1,"tid":1}])";
  const auto before = read_kineto(R"({"baseTimeNanoseconds":1759300074000000000,)" + events + "}");
  const auto after = read_kineto("{" + events + R"(,"baseTimeNanoseconds":"1759300074000000000"})");
  const auto never = read_kineto("{" + events + "}");
  CHECK(before->events[0].event.start_ns == 1759300074000007001);
  CHECK(after->events[0].event.start_ns == 1759300074000007001);
  CHECK(never->events[0].event.start_ns == 7001);
  const auto absolute = read_kineto(
      R"({"traceEvents":[{"ph":"i","name":"a","ts":1712867402348256.5,"pid":1,"tid":1}],"baseTimeNanoseconds":5})");
  CHECK(absolute->events[0].event.start_ns == 1712867402348256500);
  CHECK(absolute->process().notes.size() == 1);
}

TEST_CASE("string process ids have tracks of their own") {
  const auto trace = read_events(
      R"J({"ph":"X","cat":"Trace","name":"PyTorch Profiler (0)","pid":"Spans","tid":"PyTorch Profiler","ts":1,"dur":2},
         {"ph":"i","s":"g","name":"Iteration Start","pid":"Traces","tid":"Trace X","ts":1},
         {"ph":"i","s":"g","name":"Record Window End","pid":"","tid":"","ts":3},
         {"ph":"C","cat":"hardware_counters","name":"sm","pid":"GPU 0 Counters","tid":0,"ts":1,"args":{"":0.5}})J");
  REQUIRE(trace->events.size() == 4);
  CHECK(trace->track(0).kind == TrackKind::other);
  CHECK(trace->track(0).group_name == "Spans");
  CHECK(trace->track(0).name == "PyTorch Profiler");
  CHECK(trace->events[0].event.kind == Kind::other);
  CHECK(trace->category(0) == "Trace");
  CHECK(trace->events[1].event.kind == Kind::instant);
  CHECK(trace->track(2).group_name.empty());
  CHECK(trace->events[3].event.kind == Kind::counter);
  CHECK(trace->events[3].args == R"("":0.5)");
  CHECK(trace->track(3).group_name == "GPU 0 Counters");
}

TEST_CASE("metadata names tracks and the process, and is no event") {
  const std::string events = slice("cpu_op", R"("ts":1,"dur":1,"pid":42,"tid":43)") + "," +
                             slice("kernel", R"("ts":1,"dur":1,"pid":0,"tid":7)");
  const std::string names =
      R"J({"name":"process_name","ph":"M","pid":42,"tid":0,"args":{"name":"python"}},
         {"name":"process_name","ph":"M","pid":0,"tid":0,"args":{"name":"not this"}},
         {"name":"process_labels","ph":"M","ts":0,"pid":42,"tid":0,"args":{"labels":"CPU"}},
         {"name":"process_sort_index","ph":"M","pid":42,"tid":0,"args":{"sort_index":5}},
         {"name":"thread_name","ph":"M","pid":42,"tid":43,"args":{"name":"thread 43 (py\u0074hon)"}},
         {"name":"thread_name","ph":"M","pid":0,"tid":7,"args":{"name":"stream 7 "}},
         {"name":"thread_name","ph":"M","pid":9,"tid":9,"args":{"name":"unused"}},
         {"name":"num_cpus","ph":"M","pid":0,"tid":0,"args":{"number":8}})J";
  for (const auto& text : {events + "," + names, names + "," + events}) {
    const auto trace = read_events(text);
    CHECK(trace->events.size() == 2);
    CHECK(trace->catalog.tracks.size() == 2);
    CHECK(trace->track(0).name == "thread 43 (python)");
    CHECK(trace->track(1).name == "stream 7");
    CHECK(trace->process().program == "python");
    CHECK(trace->process().pid == 42);
    CHECK(trace->process().notes == std::vector<std::string>{"1 metadata event (M) was not understood: skipped"});
  }
}

TEST_CASE("what only an exact copy needs is kept: rows, scopes, bindings, metadata, the base") {
  const auto trace = read_events(
      R"J({"ph":"M","name":"process_labels","pid":0,"tid":0,
           "args":{"labels":"GPU 0"}},
         {"ph":"i","s":"g","name":"Record Window End","pid":"","tid":"","ts":1},
         {"ph":"i","s":"t","cat":"cpu_instant_event","name":"[memory]","pid":1,"tid":2,"ts":1},
         {"ph":"f","bp":"e","id":1,"cat":"async","name":"launch","pid":0,"tid":"stream 9","ts":1},
         {"ph":"X","cat":"kernel","name":"a","pid":0,"tid":7,"ts":1,"dur":1,"args":{"device":0}},
         {"ph":"X","cat":"kernel","name":"b","pid":8,"tid":7,"ts":1,"dur":1,"args":{"device":0}},
         {"ph":"X","cat":"kernel","name":"c","pid":0,"tid":"7","ts":1,"dur":1,"args":{"device":0}})J");
  REQUIRE(trace->events.size() == 6);
  CHECK((trace->events[5].event.json.second_ids && !trace->events[3].event.json.second_ids));
  CHECK((trace->events[0].event.json.scope == 'g' && trace->events[0].event.json.no_category));
  CHECK((trace->events[1].event.json.scope == 't' && !trace->events[1].event.json.no_category));
  CHECK((trace->events[2].event.json.encloses && trace->name(2) == "launch" && trace->category(2) == "async"));
  CHECK(trace->track(0).kineto_ids == R"("pid": "", "tid": "")");
  CHECK(trace->track(2).kineto_ids == R"("pid": 0, "tid": "stream 9")");
  CHECK(trace->track(3).kineto_ids == "\"pid\": 0, \"tid\": 7\n\"pid\": 0, \"tid\": \"7\"");
  CHECK(trace->track(4).kineto_ids == R"("pid": 8, "tid": 7)");
  CHECK(trace->track(4).group == 1);  // work of one device under two pids is of two GPUs
  CHECK(trace->process().kineto_metadata ==
        R"({"ph":"M","name":"process_labels","pid":0,"tid":0,"args":{"labels":"GPU 0"}})");
}

TEST_CASE("arrows keep their phase and id and join the track of their end") {
  const auto trace = read_events(slice("cuda_runtime", R"("ts":1,"dur":1,"pid":9,"tid":9)") + "," +
                                 R"({"ph":"s","id":5,"pid":9,"tid":9,"ts":1,"cat":"ac2g","name":"ac2g"},)" +
                                 slice("kernel", R"("ts":3,"dur":1,"pid":0,"tid":7,"args":{"device":0})") + "," +
                                 R"({"ph":"f","id":5,"pid":0,"tid":7,"ts":3,"cat":"ac2g","name":"ac2g","bp":"e"},
         {"ph":"f","id":18446744073709551615,"pid":9,"tid":9,"ts":1,"cat":"fwdbwd","name":"fwdbwd","bp":"e"},
         {"ph":"t","id":"0xfF","pid":9,"tid":9,"ts":1,"cat":"flow","name":"x"},
         {"ph":"s","id":"12","pid":9,"tid":9,"ts":1,"cat":"mine","name":"x"},
         {"ph":"s","id":"some text","pid":9,"tid":9,"ts":1,"cat":"mine","name":"x"},
         {"ph":"f","id":"some text","pid":9,"tid":9,"ts":1,"cat":"mine","name":"x"})");
  REQUIRE(trace->events.size() == 9);
  CHECK(trace->events[1].event.kind == Kind::flow);
  CHECK(trace->events[1].event.phase == 's');
  CHECK(trace->events[1].event.correlation == 5);
  CHECK(trace->name(1) == "ac2g");
  CHECK(trace->events[1].event.track == trace->events[0].event.track);
  CHECK(trace->events[3].event.track == trace->events[2].event.track);
  CHECK(trace->events[4].event.correlation == UINT64_MAX);
  CHECK(trace->events[5].event.correlation == 255);
  CHECK(trace->category(5).empty());
  CHECK(trace->events[6].event.correlation == 12);
  CHECK(trace->events[7].event.correlation == trace->events[8].event.correlation);
  CHECK(trace->events[7].event.correlation != 0);
  CHECK(trace->process().explicit_flows);
}

TEST_CASE("launch arrows are told from others") {
  const auto explicit_flows = [](const std::string& category) {
    return read_events(R"({"ph":"s","id":1,"pid":1,"tid":1,"ts":1,"cat":")" + category + R"("})")
        ->process()
        .explicit_flows;
  };
  CHECK(explicit_flows("ac2g"));
  CHECK(explicit_flows("async_cpu_to_gpu"));
  CHECK(explicit_flows("async"));
  CHECK_FALSE(explicit_flows("fwdbwd"));
}

TEST_CASE("the end of an arrow finds the stream in a container whose process is pid 1") {
  const auto trace = read_events(
      slice("cpu_op", R"("ts":1,"dur":1,"pid":1,"tid":7)") + "," +
      slice("kernel", R"("ts":3,"dur":1,"pid":1,"tid":7)") +
      R"(,{"ph":"f","id":5,"pid":1,"tid":7,"ts":3,"cat":"ac2g"},{"ph":"s","id":5,"pid":1,"tid":7,"ts":1,"cat":"ac2g"})");
  CHECK(trace->track(0).kind == TrackKind::thread);
  CHECK(trace->track(1).kind == TrackKind::stream);
  CHECK(trace->track(2).kind == TrackKind::stream);
  CHECK(trace->track(3).kind == TrackKind::thread);
}

TEST_CASE("the end of an arrow that comes before its kernel finds the stream by the device list") {
  const auto trace = read_kineto(R"({"deviceProperties":[{"id":2,"name":"A"}],"traceEvents":[
    {"ph":"f","id":5,"pid":2,"tid":7,"ts":3,"cat":"ac2g"},)" +
                                 slice("kernel", R"("ts":3,"dur":1,"pid":2,"tid":7)") + "]}");
  CHECK(trace->track(0).kind == TrackKind::stream);
  CHECK(trace->events[0].event.track == trace->events[1].event.track);
}

TEST_CASE("B and E become one slice by their track") {
  const auto trace = read_events(
      R"({"ph":"B","cat":"nvtx","name":"outer","pid":1,"tid":1,"ts":1,"args":{"a":1}},
         {"ph":"B","cat":"nvtx","name":"inner","pid":1,"tid":1,"ts":2},
         {"ph":"B","cat":"nvtx","name":"elsewhere","pid":1,"tid":2,"ts":2},
         {"ph":"E","pid":1,"tid":1,"ts":3.5},
         {"ph":"E","pid":1,"tid":1,"ts":4,"args":{"b":2}},
         {"ph":"E","pid":1,"tid":1,"ts":5})");
  REQUIRE(trace->events.size() == 3);
  CHECK(trace->name(0) == "inner");
  CHECK(trace->events[0].event.duration_ns == 1500);
  CHECK(trace->events[0].event.phase == 'X');
  CHECK(trace->events[0].event.kind == Kind::nvtx);
  CHECK(trace->name(1) == "outer");
  CHECK(trace->events[1].event.duration_ns == 3000);
  CHECK(trace->events[1].args == R"("a":1, "b":2)");
  CHECK(trace->name(2) == "elsewhere");
  CHECK(trace->events[2].event.duration_ns == kUnknownDuration);
  CHECK(trace->process().notes ==
        std::vector<std::string>{"1 slice (B) has no end (E)", "1 end of a slice (E) has no beginning (B): skipped"});
  CHECK(trace->process().counts[static_cast<std::size_t>(Kind::nvtx)] == 3);
}

TEST_CASE("a missing, negative or absurd duration is 0 and counted") {
  const auto trace = read_events(slice("cpu_op", R"("ts":1,"pid":1,"tid":1)") + "," +
                                 slice("cpu_op", R"("ts":1,"dur":-5,"pid":1,"tid":1)") + "," +
                                 slice("kernel", R"("ts":1,"dur":18446744073709551.615,"pid":1,"tid":1)") + "," +
                                 slice("cpu_op", R"("ts":1,"dur":null,"pid":1,"tid":1)") + "," +
                                 slice("cpu_op", R"("ts":9223372036854775.000,"dur":1,"pid":1,"tid":1)"));
  REQUIRE(trace->events.size() == 5);
  for (const KeptEvent& kept : trace->events) CHECK(kept.event.duration_ns == 0);
  CHECK(trace->process().notes ==
        std::vector<std::string>{
            "1 event is more than a day away from all others: kept, but excluded from spans and sums",
            "5 slices had a missing, negative or impossible duration: using 0"});
}

// The third is like the second but for its numbers.
TEST_CASE("a duration that ends beyond the end of time is 0 and counted") {
  const auto at = [](const char* dur) {
    return slice("kernel", R"("ts":9223372036854775.000,"dur":)" + std::string(dur) + R"(,"pid":1,"tid":1)");
  };
  const auto trace = read_events(at("0.807") + "," + at("0.806") + "," + at("0.808"));
  REQUIRE(trace->events.size() == 3);
  CHECK((trace->events[0].event.duration_ns == 807 && trace->events[1].event.duration_ns == 806));
  CHECK(trace->events[2].event.duration_ns == 0);
  CHECK(trace->process().last_ns == INT64_MAX);
  CHECK(trace->process().notes ==
        std::vector<std::string>{"1 slice had a missing, negative or impossible duration: using 0"});
}

TEST_CASE("a kernel that overruns later work of its stream keeps its duration, and is no end of the process") {
  const auto trace = read_events(slice("kernel", R"("ts":1,"dur":2000000,"pid":0,"tid":7,"args":{"correlation":3})") +
                                 "," + slice("kernel", R"("ts":21,"dur":10,"pid":0,"tid":7,"args":{"correlation":4})"));
  CHECK(trace->events[0].event.duration_ns == 2'000'000'000);
  CHECK(trace->process().overruns == std::vector<Overrun>{{3, 2'000'000'000, 20'000}});
  CHECK(trace->process().last_ns == 31'000);
  REQUIRE(trace->process().notes.size() == 1);
  CHECK(
      trace->process().notes[0] ==
      "1 kernel or copy is recorded to end more than 1 s after later work of the same stream began (by up to 2.000 s): such work counts until then");
}

TEST_CASE(
    "of several processes in one file each GPU has its launcher, by the text before its number or by the order of pids") {
  const auto launchers = [](const char* host_a, const char* host_b, const char* gpu_a, const char* gpu_b) {
    std::string events;
    for (const char* pid : {host_a, host_b})
      events += slice("cuda_runtime", R"("ts":1,"dur":1,"tid":1,"pid":)" + std::string(pid)) + ",";
    for (const char* pid : {gpu_a, gpu_b})
      events += slice("kernel", R"("ts":1,"dur":1,"tid":7,"pid":)" + std::string(pid)) + (pid == gpu_b ? "" : ",");
    const auto trace = read_events(events);
    std::vector<std::uint32_t> found;
    for (std::size_t i = 0; i < 4; ++i) found.push_back(trace->track(i).launcher);
    return found;
  };
  using Found = std::vector<std::uint32_t>;
  CHECK(launchers("\"[TP01] 5000\"", "\"[TP00] 5001\"", "\"[TP01] 0\"", "\"[TP00] 1\"") == Found{2, 1, 2, 1});
  CHECK(launchers("5001", "5000", "0", "1000000") == Found{2, 1, 1, 2});
  CHECK(launchers("5000", "5001", "0", "0") == Found{0, 0, 0, 0});  // one GPU, of both or of one of them
  CHECK(launchers("5000", "5000", "0", "1") == Found{0, 0, 0, 0});  // one process
}

TEST_CASE("rows of rocprof's GPUs hold GPU work without a category") {
  const auto trace = read_events(R"J({"args":{"name":"0 CPU HIP API"},"ph":"M","pid":2,"name":"process_name"},
    {"args":{"name":"4 GPU2"},"ph":"M","pid":8,"name":"process_name"},
    {"ph":"X","name":"hipLaunchKernel","pid":2,"tid":2385,"ts":"1","dur":"7"},
    {"ph":"X","name":"k1(int*)","pid":8,"tid":0,"ts":"9","dur":"12"})J");
  REQUIRE(trace->events.size() == 2);
  CHECK(trace->events[0].event.kind == Kind::other);
  CHECK(trace->events[1].event.kind == Kind::kernel);
  CHECK((trace->track(1).kind == TrackKind::stream && trace->track(1).group == 2));
}

TEST_CASE("copies that have the category of kernels are copies") {
  const auto trace = read_events(
      slice("kernel", R"("ts":1,"dur":1,"pid":0,"tid":7)") +
      R"(,{"ph":"X","cat":"kernel","name":"MEMORY_COPY_DEVICE_TO_HOST","ts":3,"dur":1,"pid":0,"tid":7,"args":{"bytes":64}})");
  CHECK(trace->events[0].event.kind == Kind::kernel);
  CHECK((trace->events[1].event.kind == Kind::memcpy && trace->events[1].event.bytes == 64));
  CHECK(trace->category(1) == "kernel");
}

TEST_CASE("copies and sets of XLA, which have no category, are copies and sets") {
  const auto trace = read_events(
      R"J({"ph":"M","pid":1,"name":"process_name","args":{"name":"/device:GPU:0"}},{"ph":"M","pid":1,"tid":14,"name":"thread_name","args":{"name":"Stream #14(Compute)"}},
    {"ph":"X","name":"fusion_1","pid":1,"tid":14,"ts":1,"dur":1},{"ph":"X","name":"MemcpyH2D","pid":1,"tid":14,"ts":3,"dur":1},{"ph":"X","name":"Memset","pid":1,"tid":14,"ts":5,"dur":1})J");
  REQUIRE(trace->events.size() == 3);
  CHECK(trace->events[0].event.kind == Kind::kernel);
  CHECK(trace->events[1].event.kind == Kind::memcpy);
  CHECK(trace->events[2].event.kind == Kind::memset);
  CHECK(trace->events[1].event.json.no_category);
}

TEST_CASE("phases that we do not know are kept") {
  const auto trace = read_events(R"({"ph":"b","cat":"x","id":"0x10","name":"a","pid":1,"tid":1,"ts":1},
                                    {"ph":"I","name":"mark","pid":1,"tid":1,"ts":1},
                                    {"ph":"R","cat":"cpu_instant_event","name":"mark","pid":1,"tid":1,"ts":1})");
  CHECK(trace->events[0].event.kind == Kind::other);
  CHECK(trace->events[0].event.phase == 'b');
  CHECK(trace->events[0].event.correlation == 16);
  CHECK(trace->events[1].event.kind == Kind::instant);
  CHECK(trace->events[1].event.phase == 'I');
  CHECK(trace->events[2].event.kind == Kind::instant);
  CHECK(trace->events[2].event.category == 0);
}

TEST_CASE("the header says who it was, before or after the events") {
  const std::string header =
      R"("host_name":"node\u0031","distributedInfo":{"backend":"nccl","rank":"3","world_size":16,"pg_config":[{"a":[]}]},
         "deviceProperties":[{"id":0,"name":"A"},{"id":1,"name":"B \"x\"","totalGlobalMem":85028372480}])";
  const std::string events = "\"traceEvents\":[" + slice("kernel", R"("ts":2e15,"dur":1,"pid":1,"tid":7)") + "]";
  for (const auto& text : {"{" + header + "," + events + "}", "{" + events + "," + header + "}"}) {
    const auto trace = read_kineto(text, "rank5.json");
    CHECK(trace->process().rank == 3);
    CHECK(trace->process().rank_source == RankSource::content);
    CHECK(trace->process().world_size == 16);
    CHECK(trace->process().host == "node1");
    CHECK(trace->process().device_name == "B \"x\"");
    CHECK(trace->process().pid == -1);
    CHECK(trace->process().format == SourceFormat::kineto);
  }
}

TEST_CASE("the members beside the events are kept as they stood") {
  const auto trace = read_kineto(
      R"({"schemaVersion": 1, "deviceProperties": [
  {"id": 0, "name": "A\u0041"}], "baseTimeNanoseconds": 5, "displayTimeUnit": "ms", "traceEvents": [],
  "distributedInfo": {"rank":  3, "x": [1.0, null]}, "a\"b":true})");
  CHECK(trace->process().kineto_header == R"("schemaVersion": 1, "deviceProperties": [
  {"id": 0, "name": "A\u0041"}], "displayTimeUnit": "ms", "distributedInfo": {"rank":  3, "x": [1.0, null]}, "a\"b": true)");
  CHECK(trace->process().notes.empty());
  CHECK(read_kineto("[]")->process().kineto_header.empty());
  const auto twice = read_kineto("{\"a\":1,\"traceEvents\":[" + slice("kernel", R"("ts":1,"dur":1)") + "],\"b\":2}");
  CHECK(twice->process().kineto_header == R"("a": 1, "b": 2)");
}

TEST_CASE("a member beside the events that is too large to be kept is named") {
  const std::string large = '"' + std::string(kMaxHeaderBytes, 'a') + '"';
  const auto trace =
      read_kineto(R"({"a":1,"systemTraceEvents":)" + large + R"(,"list":[)" + large + R"(],"b":2,"traceEvents":[]})");
  CHECK(trace->process().kineto_header == R"("a": 1, "b": 2)");
  CHECK(trace->process().notes == std::vector<std::string>{"the member \"systemTraceEvents\" is too large: skipped",
                                                           "the member \"list\" is too large: skipped"});
}

TEST_CASE("an array of events at the top is a trace, and so is an empty one") {
  const auto trace = read_kineto(" [" + slice("kernel", R"("ts":1,"dur":1,"pid":0,"tid":7)") + "] ");
  CHECK(trace->events.size() == 1);
  CHECK(trace->events[0].event.start_ns == 1000);
  const auto empty = read_kineto(R"({"traceEvents":[]})");
  CHECK(empty->events.empty());
  CHECK(empty->process().first_ns == 0);
  CHECK(empty->process().last_ns == 0);
}

TEST_CASE("args that are not an object are left out and counted") {
  const auto trace = read_events(slice("cpu_op", R"("ts":1,"dur":1,"args":[1])") + "," +
                                 slice("cpu_op", R"("ts":1,"dur":1,"args":null)"));
  CHECK(trace->events[0].args.empty());
  CHECK(trace->process().notes ==
        std::vector<std::string>{"1 event had args that are not an object: the args are skipped"});
}

namespace {

struct KeptFactsOf : EventSink {
  void event(const Event&, const Facts& facts) override { all.push_back(facts); }
  std::vector<KeptFacts> all;
};

}  // namespace

TEST_CASE("what is computed with comes as numbers beside the text: the allocator's totals, whom a wait waits for") {
  const TestFolder folder;
  const std::string path = folder.write("a.json", R"({"traceEvents":[
    {"ph":"i","cat":"cpu_instant_event","name":"[memory]","pid":1,"tid":1,"ts":1,"args":{"Device Type": 1, "Device Id": 3, "Total Allocated": 512, "Total Reserved": 2048}},
    {"ph":"X","cat":"cuda_sync","name":"Stream Wait Event","pid":0,"tid":7,"ts":2,"dur":1,"args":{"wait_on_stream": 20, "wait_on_cuda_event_record_corr_id": 81, "wait_on_cuda_event_id": 9}},
    {"ph":"X","cat":"cuda_sync","name":"Stream Wait Event","pid":0,"tid":7,"ts":3,"dur":1,"args":{"wait_on_stream": -1, "wait_on_cuda_event_record_corr_id": -1, "wait_on_cuda_event_id": 9}}]})");
  Catalog catalog;
  KeptFactsOf kept;
  kineto::open(path)->read(catalog, kept);
  REQUIRE(kept.all.size() == 3);
  const auto* allocator = kept.all[0].get<AllocatorFacts>();
  REQUIRE(allocator != nullptr);
  CHECK((allocator->device_type == 1 && allocator->device == 3 && allocator->allocated_bytes == 512 &&
         allocator->reserved_bytes == 2048));
  const auto* wait = kept.all[1].get<SyncFacts>();
  REQUIRE(wait != nullptr);
  CHECK(
      (wait->producer_is_known && wait->producer_stream == 20 && wait->producer_correlation == 81 && wait->event == 9));
  CHECK(kept.all[1].args.find("\"wait_on_stream\": 20") != std::string::npos);
  CHECK(kept.all[2].get<SyncFacts>() == nullptr);
}
