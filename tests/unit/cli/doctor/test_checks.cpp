#include "../commands/text_sink.h"
#include "cli/doctor/check_recording.h"
#include "cli/doctor/checks.h"
#include "cli/doctor/injection.h"
#include "tests/unit/catch.h"

using namespace cli;
using namespace cli::doctor;
using namespace std::string_literals;

namespace {

// The level and the words of the one result of this check.
std::string found(const CheckResults& results, const std::string& check) {
  std::string text;
  for (const CheckResult& f : results) {
    if (f.check == check) text += findings_text({f});
  }
  return text;
}

ReadRecording healthy() {
  ReadRecording recording;
  Process& p = recording.process;
  p.rank = 3, p.state = RecordingState::live, p.first_ns = 0, p.last_ns = 60'000'000'000;
  p.counts[static_cast<std::size_t>(Kind::kernel)] = 1000;
  p.recorder.cupti_state = trace::SourceState::on, p.recorder.cupti_version = 130001;
  p.recorder.created_ns = 1'000'000'000, p.recorder.heartbeat_ns = 61'000'000'000;
  p.recorder.agent_cpu_ns = 60'000'000;
  return recording;
}
constexpr std::int64_t kNow = 61'100'000'000;

}  // namespace

TEST_CASE("doctor: equal results of several ranks are one line") {
  CheckResults all;
  for (const int rank : {0, 1, 2, 5}) {
    all.push_back(warn("state", "was killed", "look"));
    all.back().who = "rank " + std::to_string(rank);
  }
  all.push_back(ok("cupti", "CUPTI 1"));
  all.back().who = "pid 9";
  const std::string text = findings_text(grouped(all));
  CHECK(text ==
        "WARN  state       ranks 0-2, 5: was killed -> look\n"
        "OK    cupti       pid 9: CUPTI 1\n");
}

TEST_CASE("doctor: of the same in different amounts the greatest stands for all") {
  CheckResults all;
  for (const int rank : {0, 1, 2}) {
    all.push_back(ok("cost", std::to_string(rank % 2 + 1) + " %"));
    all.back().who = "rank " + std::to_string(rank), all.back().series = "agent", all.back().amount = rank % 2 + 1;
  }
  CHECK(findings_text(grouped(all)) == "OK    cost        ranks 0-2: 2 % (the most: rank 1)\n");
}

TEST_CASE("doctor: JSON, and the exit status of failures") {
  TextSink sink;
  write_findings({fail("a", "b \"c\"", "d")}, sink);
  CHECK(sink.text ==
        "{\"findings\":[{\"level\":\"fail\",\"check\":\"a\",\"who\":\"\",\"what\":\"b \\\"c\\\"\",\"next\":\"d\"}],"
        "\"failed\":1}\n");
  throw_if_failed({ok("a", "b"), warn("a", "b", "c")});
  const auto exit_of = [](CheckResults results) {
    try {
      throw_if_failed(results);
    } catch (const Error& error) {
      return error.exit();
    }
    return Exit::done;
  };
  CHECK(exit_of({fail("a", "b", "c")}) == Exit::gate_failed);
  CheckResult unreadable = fail("a", "b", "c");
  unreadable.exit = Exit::bad_content;
  CHECK(exit_of({fail("a", "b", "c"), unreadable}) == Exit::bad_content);
}

TEST_CASE("doctor: /proc is read as it is written") {
  const auto variables = parse_environ("A=1\0B=\0C=x=y\0broken\0"s);
  CHECK((variables.size() == 3 && variables.at("B").empty() && variables.at("C") == "x=y"));
  CHECK(parse_environ("").empty());
  const auto files = parse_maps(
      "7f00-7f01 r--p 00000000 08:01 12  /usr/lib/libcuda.so.1\n"
      "7f01-7f02 r-xp 00001000 08:01 12  /usr/lib/libcuda.so.1\n"
      "7f02-7f03 rw-p 00000000 00:00 0   [heap]\n"
      "7f03-7f04 rw-s 00000000 08:01 13  /data/a b.ring");
  CHECK(files == std::vector<std::string>{"/usr/lib/libcuda.so.1", "/data/a b.ring"});
  ProcessView view;
  view.files = {"/x/libcupti.so.12", "/y/libcupti.so.13.0", "/libcupti.so.d/other"};
  CHECK(files_named(view, "libcupti.so").size() == 2);
}

TEST_CASE("doctor: what the variables of a process do") {
  const auto said = [](std::map<std::string, std::string> variables, bool mapped = false) {
    ProcessView view;
    view.variables = std::move(variables);
    return findings_text(check_variables(view, mapped));
  };
  CHECK_THAT(said({}), contains_text("FAIL") && contains_text("not set") && contains_text("tracetool record"));
  CHECK_THAT(said({}, true), contains_text("OK"));
  CHECK_THAT(said({{"TRACETOOL_DISABLE", "1"}, {"CUDA_INJECTION64_PATH", "/x"}}),
             contains_text("the agent does nothing"));
  CHECK_THAT(said({{"TRACETOOL_DISABLE", "0"}}), contains_text("not set"));
  CHECK_THAT(said({{"CUDA_INJECTION64_PATH", "lib/libagent.so"}}), contains_text("not absolute"));
  CHECK_THAT(said({{"CUDA_INJECTION64_PATH", "/nowhere/libagent.so"}}), contains_text("no such file"));
  CHECK_THAT(said({{"CUDA_INJECTION64_PATH", "/bin/sh"}}), contains_text("another tool"));
  ProcessView hidden;
  hidden.environ_error = "Permission denied";
  CHECK_THAT(findings_text(check_variables(hidden, false)),
             contains_text("WARN") && contains_text("Permission denied"));
}

TEST_CASE("doctor: what the mapped files of a process tell") {
  ProcessView view;
  CHECK_THAT(found(check_mapped(view), "cuda"), contains_text("WARN") && contains_text("nothing to record yet"));
  view.files = {"/usr/lib/libcuda.so.1"};
  CHECK_THAT(found(check_mapped(view), "agent"), contains_text("FAIL") && contains_text("though CUDA is"));
  view.files = {"/usr/lib/libcuda.so.1", "/a/libagent.so", "/a/libcupti.so.12", "/b/libcupti.so.13",
                "/opt/nsight-systems/libToolsInjection64.so"};
  const CheckResults results = check_mapped(view);
  CHECK_THAT(found(results, "agent"), contains_text("OK"));
  CHECK_THAT(found(results, "cupti"), contains_text("WARN  cupti       2 copies"));
  CHECK_THAT(found(results, "tools"), contains_text("Nsight Systems"));
  CHECK_THAT(found(results, "recording"), contains_text("WARN"));
  CHECK(found(results, "pytorch").empty());
  view.files.push_back("/site/torch/lib/libtorch_cpu.so");
  CHECK_THAT(found(check_mapped(view), "pytorch"),
             contains_text("OK") && contains_text("/site/torch/lib/libtorch_cpu.so, TRACETOOL_TORCH=steps"));
  view.variables["TRACETOOL_TORCH"] = "stacks";
  CHECK_THAT(found(check_mapped(view), "pytorch"), contains_text("TRACETOOL_TORCH=stacks"));
}

TEST_CASE("doctor: a healthy recording has nothing but OK") {
  for (const CheckResult& result : check_recording(healthy(), kNow)) {
    CHECK(result.level == Level::ok);
    CHECK(result.who == "rank 3");
  }
}

TEST_CASE("doctor: kernels of NCCL without its calls") {
  ReadRecording recording = healthy();
  CHECK(found(check_recording(recording, kNow), "nccl").empty());
  recording.nccl_kernels = 40;
  CHECK_THAT(found(check_recording(recording, kNow), "nccl"),
             contains_text("WARN") && contains_text("40 NCCL kernels") && contains_text("NVTX_INJECTION64_PATH"));
  recording.process.overwritten[static_cast<std::size_t>(Kind::nccl)] = 1;
  CHECK(found(check_recording(recording, kNow), "nccl").empty());
}

TEST_CASE("doctor: what is recorded of PyTorch") {
  ReadRecording recording = healthy();
  const auto said = [&] { return found(check_recording(recording, kNow), "pytorch"); };
  CHECK(said().empty());
  recording.process.counts[static_cast<std::size_t>(Kind::user_annotation)] = 10;
  CHECK_THAT(said(), contains_text("OK") && contains_text("steps and ranges are recorded (TRACETOOL_TORCH=ops"));
  recording.process.counts[static_cast<std::size_t>(Kind::cpu_op)] = 1000;
  CHECK_THAT(said(), contains_text("operators are recorded\n"));
  recording.with_inputs = 900;
  CHECK_THAT(said(), contains_text("operators are recorded, with inputs\n"));
  recording.with_stack = 800;
  CHECK_THAT(said(), contains_text("operators are recorded, with inputs, with Python stacks\n"));
}

TEST_CASE("doctor: the heartbeat of a copy is as old as the copy") {
  ReadRecording recording = healthy();
  recording.copied_ns = kNow;
  CHECK(found(check_recording(recording, kNow + 60'000'000'000), "heartbeat").empty());
  recording.process.recorder.heartbeat_ns -= 20'000'000'000;
  CHECK_THAT(found(check_recording(recording, kNow + 60'000'000'000), "heartbeat"), contains_text("WARN"));
}

TEST_CASE("doctor: a folder of recordings needs no room, and is warned of it where processes record") {
  constexpr std::uint64_t kNoDisk = 1ull << 62;
  CHECK_THAT(found(check_output_directory("/tmp", kNoDisk), "directory"), contains_text("FAIL"));
  CHECK_THAT(found(check_used_directory("/tmp", kNoDisk, false), "directory"), contains_text("OK"));
  CHECK_THAT(found(check_used_directory("/tmp", kNoDisk, true), "directory"), contains_text("WARN"));
  CHECK_THAT(found(check_used_directory("/tmp", 1, true), "directory"), contains_text("OK"));
}

TEST_CASE("doctor: CUPTI that is taken, failed, off, silent") {
  const auto said = [](auto change) {
    ReadRecording recording = healthy();
    change(recording.process);
    return found(check_recording(recording, kNow), "cupti");
  };
  CHECK_THAT(
      said([](Process& p) { p.recorder.cupti_state = trace::SourceState::taken, p.recorder.cupti_holder = "ncu"; }),
      contains_text("FAIL") && contains_text("CUPTI is in use by ncu"));
  CHECK_THAT(
      said([](Process& p) { p.recorder.cupti_state = trace::SourceState::failed, p.recorder.cupti_error = 999; }),
      contains_text("no driver"));
  CHECK_THAT(
      said([](Process& p) { p.recorder.cupti_state = trace::SourceState::failed, p.recorder.cupti_version = 0; }),
      contains_text("no libcupti found"));
  CHECK_THAT(said([](Process& p) { p.recorder.cupti_state = trace::SourceState::off; }), contains_text("WARN"));
  CHECK_THAT(said([](Process& p) { p.counts = {}; }), contains_text("no kernel or memcpy is recorded yet"));
}

TEST_CASE("doctor: stacks and module names without room") {
  ReadRecording recording = healthy();
  const auto said = [&] { return found(check_recording(recording, kNow), "losses"); };
  CHECK(said().empty());
  recording.process.recorder.operators_without_stack = 3;
  CHECK_THAT(said(), contains_text("WARN") && contains_text("3 operators without a stack"));
  recording.process.recorder.operators_without_stack = 0, recording.process.recorder.module_names_missed = 2;
  CHECK_THAT(said(), contains_text("WARN") && contains_text("2 modules without a name"));
}

TEST_CASE("doctor: how old the newest work of the GPU is, while it is recorded and after a kill") {
  ReadRecording recording = healthy();
  Recorder& r = recording.process.recorder;
  const auto said = [&] { return found(check_recording(recording, kNow), "newest"); };
  CHECK(said().empty());
  r.newest_gpu_end_ns = r.heartbeat_ns - 120'000'000;
  CHECK_THAT(said(),
             contains_text("OK") && contains_text("last recorded GPU activity: 120.0 ms before the last heartbeat"));
  r.newest_gpu_end_ns = r.heartbeat_ns + 1;  // it ended after the heartbeat was read
  CHECK_THAT(said(), contains_text("OK") && contains_text("activity: 0 ns before"));
  r.newest_gpu_end_ns = r.heartbeat_ns - 12'000'000'000;
  CHECK_THAT(said(), contains_text("WARN") && contains_text("12.00 s"));
  recording.process.state = RecordingState::recovered;
  CHECK_THAT(said(), contains_text("OK"));
  recording.process.state = RecordingState::clean;
  CHECK(said().empty());
}

TEST_CASE("doctor: losses, a late heartbeat, notices and costs are warned of") {
  ReadRecording recording = healthy();
  Process& p = recording.process;
  p.lost[0] = 5, p.lost_unknown_kind = 2, p.recorder.discarded_buffers = 1;
  p.overwritten[0] = 3000;
  p.recorder.agent_cpu_ns = 6'000'000'000;
  p.notices = {{trace::NoticeCode::gap, 10, 0, 0, "a profiler"}, {trace::NoticeCode::fatal, 10, 10, 700, ""}};
  recording.overhead["Lazy Function Loading"] = {4, 6'000'000'000};
  const CheckResults results = check_recording(recording, kNow + 60'000'000'000);
  CHECK_THAT(found(results, "losses"), contains_text("7 records lost, 2 of them dropped by CUPTI") &&
                                           contains_text("1 CUPTI buffer discarded") &&
                                           contains_text("75 % overwritten"));
  CHECK_THAT(found(results, "heartbeat"), contains_text("WARN"));
  CHECK_THAT(found(results, "notice"), contains_text("gap, ongoing: a profiler") && contains_text("fatal ->"));
  CHECK_THAT(found(results, "cost"), contains_text("WARN") && contains_text("10.0 % of a core"));
  CHECK_THAT(found(results, "overhead"), contains_text("Lazy Function Loading: 4 times, 6.000 s in total, 10.00 %"));
}

TEST_CASE("doctor: a process of another user is named by what can be seen of it") {
  ProcessView process;
  process.exists = true, process.name = "python";
  process.environ_error = process.maps_error = "Permission denied";
  const CheckResults results = check_process(process, 17);
  CHECK_THAT(found(results, "process"), contains_text("17 python\n"));
  CHECK_THAT(found(results, "variables"), contains_text("Permission denied"));
  process.directory = "/home/me";
  CHECK_THAT(found(check_process(process, 17), "process"), contains_text("17 python in /home/me\n"));
}
