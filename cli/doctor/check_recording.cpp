#include "cli/doctor/check_recording.h"

#include <algorithm>
#include <cstring>

#include "cli/base/text.h"
#include "cli/formats/reading/reader.h"
#include "cli/formats/ring/file.h"
#include "cli/trace/names.h"
#include "cli/trace/words.h"

namespace cli::doctor {
namespace {

constexpr std::int64_t kLateHeartbeat_ns = 10'000'000'000;
constexpr std::int64_t kLateWork_ns = 10'000'000'000;
constexpr std::int64_t kShortLife_ns = 10'000'000'000;  // a shorter run consists mostly of the agent's start
constexpr double kDearAgent_pct = 3;                    // the cost guard's limit
constexpr double kDearOverhead_pct = 1;                 // of the recorded time

std::uint64_t count(const Process& p, Kind kind) { return p.counts[static_cast<std::size_t>(kind)]; }

std::uint64_t gpu_work(const Process& p) {
  std::uint64_t works = 0;
  for (const Kind kind : {Kind::kernel, Kind::memcpy, Kind::memset, Kind::graph}) works += count(p, kind);
  return works;
}

std::string versions(const Recorder& r) {
  std::string text = fmt::format("CUPTI {}", r.cupti_version);
  if (r.cuda_driver_version != 0)
    text += fmt::format(", driver {}.{}", r.cuda_driver_version / 1000, r.cuda_driver_version % 1000 / 10);
  if (!r.events.empty()) text += fmt::format(", events {}", r.events);
  return r.cupti_path.empty() ? text : text + ", " + r.cupti_path;
}

CheckResult check_failed(const Recorder& r) {
  constexpr int kNotInitialized = 15, kUnknown = 999;  // CUPTI's errors without a device: CUPTI 12, CUPTI 13
  if (r.cupti_error == kNotInitialized || r.cupti_error == kUnknown)
    return fail(
        "cupti", fmt::format("CUPTI error {}: no GPU or no driver found; GPU work is not recorded", r.cupti_error),
        "run on a machine where nvidia-smi works; start a container with GPUs and NVIDIA_DRIVER_CAPABILITIES=compute");
  if (r.cupti_version == 0 && r.cupti_error == 0)
    return fail("cupti", "no libcupti found: GPU work is not recorded",
                "install the CUDA toolkit's CUPTI (pip: nvidia-cuda-cupti), or set TRACETOOL_CUPTI to a libcupti.so");
  return fail("cupti",
              fmt::format("CUPTI failed with error {}: GPU work is not recorded ({})", r.cupti_error, versions(r)),
              "look for `tracetool:` in the program's stderr");
}

CheckResult check_cupti(const Process& p) {
  const Recorder& r = p.recorder;
  if (r.cupti_state == trace::SourceState::taken)
    return fail("cupti",
                fmt::format("CUPTI is in use by {}: only NVTX and NCCL are recorded",
                            r.cupti_holder.empty() ? "another tool" : r.cupti_holder),
                "run without that tool (nsys, ncu, a debugger or a profiler in the program)");
  if (r.cupti_state == trace::SourceState::failed) return check_failed(r);
  if (r.cupti_state == trace::SourceState::off)
    return warn("cupti", "CUPTI is off: no GPU work is recorded", "if the process uses CUDA, check TRACETOOL_EVENTS");
  if (gpu_work(p) == 0 && p.overwritten[static_cast<std::size_t>(Kind::kernel)] == 0)
    return warn("cupti", "CUPTI is on, but no kernel or memcpy is recorded yet",
                "wait for the first step; if nothing is recorded then, look for `tracetool:` in the program's stderr");
  return ok("cupti", versions(r));
}

// `series` and `amount`: see CheckResult.
void add_amount(CheckResults& found, CheckResult result, const std::string& series, double amount) {
  result.series = series;
  result.amount = amount;
  found.push_back(std::move(result));
}

void check_losses(const Process& p, CheckResults& found) {
  if (!p.cut.empty())
    found.push_back(warn("file", p.cut, "check whether the disk is full; the rest of the file is read"));
  const std::uint64_t kept = total(p.counts), overwritten = total(p.overwritten);
  if (const std::uint64_t lost = total(p.lost) + p.lost_unknown_kind; lost != 0)
    found.push_back(warn("losses",
                         fmt::format("{} records lost, {} of them dropped by CUPTI", lost, p.lost_unknown_kind),
                         "increase TRACETOOL_BUFFER, or record fewer TRACETOOL_EVENTS"));
  if (p.recorder.discarded_buffers != 0)
    found.push_back(warn("losses",
                         count_text(p.recorder.discarded_buffers, "CUPTI buffer") + " discarded or not fully readable",
                         "record fewer TRACETOOL_EVENTS: records arrive faster than they can be stored"));
  const auto add_missing = [&found](std::uint64_t count, const char* what) {
    if (count != 0)
      found.push_back(
          warn("losses", fmt::format("{} {}: no space in the recording", count, what), "increase TRACETOOL_BUFFER"));
  };
  add_missing(p.recorder.operators_without_stack, "operators without a stack");
  add_missing(p.recorder.module_names_missed, "modules without a name");
  if (overwritten != 0) {
    const double pct = 100.0 * static_cast<double>(overwritten) / static_cast<double>(kept + overwritten);
    const std::string what = fmt::format(
        "{:.0f} % overwritten, because the ring keeps the newest records (increase TRACETOOL_BUFFER to keep more)",
        pct);
    add_amount(found, ok("losses", what), "overwritten", pct);
  }
}

void check_spool(const Recorder& r, CheckResults& found) {
  if (r.spool_state == trace::SourceState::failed) {
    const char* why = std::strerror(static_cast<int>(r.spool_error));
    found.push_back(warn("spool", fmt::format("ended early: {}; the ring continues", why),
                         "free disk space, or set TRACETOOL_DIR to another directory"));
  } else if (r.mode == RecordingMode::spool) {
    const std::string what = fmt::format("{} so far", bytes_text(r.spooled_bytes));
    add_amount(found, ok("spool", what), "bytes", static_cast<double>(r.spooled_bytes));
  }
  if (!r.local_path.empty())
    found.push_back(ok("recording", fmt::format("the ring is at {} and is copied here", r.local_path)));
}

// `seen_ns` is the time up to which the recording is known.
void check_life(const Process& p, std::int64_t seen_ns, CheckResults& found) {
  if (p.state == RecordingState::recovered)
    found.push_back(warn("state", "the process was killed or crashed; its recording up to then is available",
                         "look for the reason in the program's stderr"));
  const std::int64_t age_ns = seen_ns - p.recorder.heartbeat_ns;
  if (p.state == RecordingState::live && age_ns > kLateHeartbeat_ns)
    found.push_back(warn("heartbeat", "alive, no heartbeat for over 10 s",
                         "check whether the process is stopped or the machine overloaded"));
}

// Completed GPU work is in the file one flush period later, except work that shares a CUPTI buffer with running work.
void check_newest_work(const Process& p, CheckResults& found) {
  const std::optional<std::int64_t> age_ns = newest_gpu_age_ns(p);
  if (!age_ns.has_value()) return;
  const std::string what =
      fmt::format("last recorded GPU activity: {} before the last heartbeat", duration_text(*age_ns));
  const bool old = p.state == RecordingState::live && *age_ns > kLateWork_ns;
  const char* next = "if the GPU should be busy, it may hang: look at the last launches and collectives";
  add_amount(found, old ? warn("newest", what, next) : ok("newest", what), "newest", static_cast<double>(*age_ns));
}

void check_notices(const Process& p, CheckResults& found) {
  for (const Notice& notice : p.notices) {
    const bool open = notice.end_ns == 0, moment = notice.end_ns == notice.start_ns;
    std::string what(word(notice.code));
    if (open) what += ", ongoing";
    if (!open && !moment) what += " for " + duration_text(notice.end_ns - notice.start_ns);
    if (!notice.text.empty()) what += ": " + notice.text;
    if (notice.code == trace::NoticeCode::source_on) {
      found.push_back(ok("notice", what));
    } else if (notice.code == trace::NoticeCode::hang) {
      found.push_back(warn("notice", what, "`tracetool dump` of its .ring file prints the recorded stacks"));
    } else {
      found.push_back(warn("notice", what, "events of that time may be missing; analyses print this note too"));
    }
  }
}

// NCCL looks for an NVTX tool once, at its first call, which may be before CUDA loads the agent.
void check_nccl(const ReadRecording& recording, CheckResults& found) {
  const Process& p = recording.process;
  if (recording.nccl_kernels == 0 || count(p, Kind::nccl) != 0) return;
  if (p.overwritten[static_cast<std::size_t>(Kind::nccl)] != 0) return;
  found.push_back(
      warn("nccl", fmt::format("{} NCCL kernels, but no NCCL call", recording.nccl_kernels),
           "also set NVTX_INJECTION64_PATH to libagent.so (tracetool record does), because NCCL was used before CUDA; "
           "or add nccl to TRACETOOL_EVENTS"));
}

// Adds nothing for a process without PyTorch.
void check_pytorch(const ReadRecording& recording, CheckResults& found) {
  const Process& p = recording.process;
  constexpr const char* kMore =
      "TRACETOOL_TORCH=ops also records operators, shapes their inputs, stacks their Python stacks, memory allocations "
      "of GPU memory, all everything";
  if (count(p, Kind::cpu_op) != 0) {
    std::string what = "operators are recorded";
    if (recording.with_inputs != 0) what += ", with inputs";
    if (recording.with_stack != 0) what += ", with Python stacks";
    if (recording.allocations != 0) what += ", with allocations";
    found.push_back(ok("pytorch", what));
  } else if (count(p, Kind::user_annotation) != 0) {
    found.push_back(ok("pytorch", fmt::format("steps and ranges are recorded ({})", kMore)));
  }
}

void check_agent_cost(const Recorder& r, CheckResults& found) {
  const std::int64_t life_ns = r.heartbeat_ns - r.created_ns;
  if (life_ns < kShortLife_ns || r.agent_cpu_ns == 0) return;
  const double pct = 100.0 * static_cast<double>(r.agent_cpu_ns) / static_cast<double>(life_ns);
  const std::string what = fmt::format("the agent used {:.1f} % of a core", pct);
  add_amount(found, pct <= kDearAgent_pct ? ok("cost", what) : warn("cost", what, "TRACETOOL_EVENTS=light uses less"),
             "agent", pct);
}

void check_overhead(const ReadRecording& recording, CheckResults& found) {
  const std::int64_t span_ns = recording.process.last_ns - recording.process.first_ns;
  for (const auto& [name, sum] : recording.overhead) {
    const double pct = span_ns > 0 ? 100.0 * static_cast<double>(sum.ns) / static_cast<double>(span_ns) : 0;
    const std::string what =
        fmt::format("{}: {} times, {} in total, {:.2f} % of the time", name, sum.count, duration_text(sum.ns), pct);
    const char* next = "CUPTI or the driver takes this time, not the program; exports show it";
    add_amount(found, pct <= kDearOverhead_pct ? ok("overhead", what) : warn("overhead", what, next), name, pct);
  }
}

}  // namespace

ReadRecording read_recording(const std::string& path) {
  ReadRecording recording;
  Catalog catalog;
  // Read this first: a copy may be replaced by a newer one, whose heartbeat is later.
  recording.copied_ns = static_cast<std::int64_t>(ring::RingFile(path).header().copied_real_ns);
  EachEvent counted([&](const Event& event, const Facts& facts) {
    if (event.kind == Kind::kernel) recording.nccl_kernels += is_comm_name(catalog.strings[event.name]);
    if (const OperatorFacts* const called = facts.get<OperatorFacts>()) {
      recording.with_inputs += called->inputs != 0;
      recording.with_stack += called->stack != 0;
    }
    recording.allocations += facts.get<AllocatorFacts>() != nullptr;
    if (event.kind != Kind::overhead) return;
    OwnCost& sum = recording.overhead[std::string(catalog.strings[event.name])];
    ++sum.count;
    sum.ns += std::max<std::int64_t>(event.duration_ns, 0);
  });
  open_trace(path)->read(catalog, counted);
  recording.process = catalog.processes.at(0);
  return recording;
}

CheckResults check_recording(const ReadRecording& recording, std::int64_t now_ns) {
  const Process& p = recording.process;
  CheckResults found{check_cupti(p)};
  check_losses(p, found);
  check_spool(p.recorder, found);
  check_life(p, recording.copied_ns != 0 ? recording.copied_ns : now_ns, found);
  check_newest_work(p, found);
  check_notices(p, found);
  check_nccl(recording, found);
  check_pytorch(recording, found);
  check_agent_cost(p.recorder, found);
  check_overhead(recording, found);
  for (CheckResult& result : found)
    result.who = p.rank >= 0 ? fmt::format("rank {}", p.rank) : fmt::format("pid {}", p.pid);
  return found;
}

}  // namespace cli::doctor
