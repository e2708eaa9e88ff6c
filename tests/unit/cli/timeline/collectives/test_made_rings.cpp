// The made jobs as files: written as rings, and read again as commands read them, they are what they are in memory.
#include <fmt/format.h>

#include <set>

#include "cli/timeline/clocks/fit_clocks.h"
#include "cli/timeline/merge/ordered_trace.h"
#include "made_collectives.h"
#include "made_training.h"
#include "tests/unit/catch.h"
#include "tests/unit/cli/formats/reading/made_rings.h"
#include "tests/unit/cli/scratch.h"

using namespace cli;

namespace {

// The rings of a trace, in a folder, and what is read from them.
class WrittenRings {
 public:
  WrittenRings(const SmallTrace& made, bool align) {
    std::vector<TraceInput> inputs;
    for (ProcessId id = 0; id < made.catalog.processes.size(); ++id)
      inputs.push_back({folder_.path(fmt::format("rank{}.ring", id)), {}});
    write_rings(made.catalog, made.events, [&](ProcessId id) { return inputs[id].path; });
    MergeOptions options;
    options.scratch_directory = folder_.folder(), options.align = align;
    trace_ = order_traces(inputs, options);
    CallsOfTrace found(catalog());
    trace_->walk(found);
    calls = found.take();
  }
  const Catalog& catalog() const { return trace_->catalog(); }
  const std::vector<ClockFit>& fits() const { return trace_->fits(); }
  CollectiveCalls calls;

 private:
  Scratch folder_;
  std::unique_ptr<OrderedTrace> trace_;
};

std::string text_of(const CollectiveWhat& what) {
  return fmt::format("{} {} {} {} {} {}", operation_name(what.operation), what.message_bytes, what.buffer_bytes,
                     what.reduction, what.root, what.data_type);
}

// What MadeCollectives tells of a call.
std::string short_text(const CollectiveCalls& calls, const Catalog&, const CollectiveCall& call) {
  return fmt::format("{}..{} {}", call.gpu_start_ns, call.gpu_end_ns, text_of(calls.whats[call.what]));
}

std::string whole_text(const CollectiveCalls& calls, const Catalog& catalog, const CollectiveCall& call) {
  const GpuAccounts& before = call.before;
  const Track& track = catalog.tracks[call.gpu_track];
  const std::string stream = call.gpu_start_ns == kNoTime ? "none" : fmt::format("{} {}", track.group, track.id);
  return short_text(calls, catalog, call) +
         fmt::format(" {}..{} {} {} {} {} {} {} {} {} {} {}", call.host_start_ns, call.host_end_ns, call.exposed_ns,
                     call.group, before.compute_ns, before.communication_ns, before.copy_ns, before.idle_ns,
                     before.late_launch_ns, stream, catalog.strings[call.gpu_name], call.group_has_ended);
}

// Each call as a line, whatever its names and communicators are numbered.
template <typename Text>
std::set<std::string> lines_of(const CollectiveCalls& calls, const Catalog& catalog, const Text& text) {
  std::set<std::string> lines;
  for (ProcessId id = 0; id < calls.processes.size(); ++id) {
    for (const CollectiveLane& lane : calls.processes[id].lanes) {
      const CommunicatorInfo& info = calls.communicators[lane.communicator];
      for (const CollectiveCall& call : lane.calls) {
        lines.insert(fmt::format("rank {}: {} of {} {} {} {}: ", id, info.label, info.size,
                                 lane.numbering == Numbering::counted, lane.point_to_point, call.position) +
                     text(calls, catalog, call));
      }
    }
  }
  return lines;
}

void add_work_lines(const CollectiveCalls& calls, const Catalog& catalog, std::set<std::string>& lines) {
  for (ProcessId id = 0; id < calls.processes.size(); ++id) {
    const ProcessCalls& of = calls.processes[id];
    lines.insert(
        fmt::format("rank {}: {} {} {}", id, of.works_without_call, of.knows_launches, of.host_delay.outside_ns));
    for (const WorkSum& sum : of.work) {
      lines.insert(fmt::format("rank {}: {} {} {} {} {}", id, catalog.strings[sum.name],
                               catalog.launches[sum.launch].grid[0], sum.computes, sum.count, sum.sum_ns));
    }
    for (const auto& [name, ns] : of.host_delay.in_calls)
      lines.insert(fmt::format("rank {}: in {} {}", id, catalog.strings[name], ns));
    for (const CollectiveLane& lane : of.lanes) {
      lines.insert(fmt::format("rank {}: {} {} {} {}", id, calls.communicators[lane.communicator].label, lane.own_rank,
                               lane.whole_beginning, lane.calls.size()));
    }
  }
}

void check_same_lines(const std::set<std::string>& made, const std::set<std::string>& read) {
  CHECK(made.size() > 100);
  CHECK(made.size() == read.size());
  const auto [one, other] = std::mismatch(made.begin(), made.end(), read.begin(), read.end());
  if (one != made.end() || other != read.end()) {
    FAIL("made: " << (one == made.end() ? "nothing" : *one)
                  << "\nread: " << (other == read.end() ? "nothing" : *other));
  }
}

// A lateness as text; of work its name.
std::vector<std::string> lateness_lines(const Lateness& lateness, const Catalog& catalog) {
  std::vector<std::string> lines{
      fmt::format("{} {} {} {}", lateness.collectives, lateness.waited_ns, lateness.set_cost_ns, lateness.by_ends)};
  for (const RankLateness& rank : lateness.ranks) {
    const LateReason& reason = rank.reason;
    lines.push_back(fmt::format("{} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {}", rank.straggler, rank.collectives,
                                rank.late_ns, rank.waited_ns, rank.others_waited_ns, rank.times_last,
                                cause_name(reason.cause), reason.proven, reason.late_ns, fmt::join(reason.more_ns, " "),
                                reason.idle_ns, reason.knows_launches, catalog.strings[reason.work.name],
                                reason.work.count, reason.work.sum_ns, reason.others_count, reason.others_mean_ns));
  }
  return lines;
}

constexpr std::uint64_t kFirstHash = 0xc0ffee00;

// Calls of the host and their launches besides, a while before the work; each communicator has a stream.
SmallTrace events_of(const MadeCollectives& made) {
  const char* const calls_of[] = {"ncclAllReduce", "ncclAllGather", "ncclReduceScatter"};
  const Operation operations[] = {Operation::all_reduce, Operation::all_gather, Operation::reduce_scatter};
  SmallTrace trace;
  for (ProcessId id = 0; id < made.catalog.processes.size(); ++id) {
    trace.process(made.catalog.processes[id].rank);
    Process& process = trace.catalog.processes[id];
    process.host = made.catalog.processes[id].host, process.state = made.catalog.processes[id].state,
    process.lost = made.catalog.processes[id].lost;
    const TrackId thread = trace.thread(id);
    std::uint64_t correlation = 0;
    for (const CollectiveLane& lane : made.calls.processes[id].lanes) {
      Collective collective;
      collective.communicator = kFirstHash + lane.communicator,
      collective.has = Collective::kCommunicator | Collective::kBytes;
      collective.nccl_class = static_cast<std::uint8_t>(trace::NcclClass::collective);
      process.communicators.push_back(
          {.communicator = collective.communicator, .ranks = made.calls.communicators[lane.communicator].size});
      const TrackId stream = trace.stream(id, 9 + lane.communicator);
      for (const CollectiveCall& call : lane.calls) {
        const CollectiveWhat& what = made.calls.whats[call.what];
        const auto which = static_cast<std::size_t>(
            std::find(std::begin(operations), std::end(operations), what.operation) - operations);
        if (lane.numbering == Numbering::numbered) collective.ordinal = static_cast<std::uint64_t>(call.position);
        Event& event =
            trace.add(thread, Kind::nccl, calls_of[which], call.gpu_start_ns - 40'000, 9'000, 0, NcclFacts{collective});
        event.bytes = static_cast<std::uint64_t>(what.message_bytes), event.has_bytes = true;
        trace.add(thread, Kind::runtime, "cudaLaunchKernelExC", call.gpu_start_ns - 36'000, 3'000, ++correlation,
                  CallFacts{.cbid = 430});
        trace.add(stream, Kind::kernel, "ncclDevKernel_Generic(ncclDevKernelArgs)", call.gpu_start_ns,
                  call.gpu_end_ns - call.gpu_start_ns, correlation, KernelFacts{});
      }
    }
  }
  return trace;
}

std::vector<std::string> fit_lines(const std::vector<ClockFit>& fits) {
  std::vector<std::string> lines;
  const auto said = [](const std::optional<std::int64_t>& ns) { return ns ? std::to_string(*ns) : "?"; };
  for (const ClockFit& fit : fits) {
    lines.push_back(fmt::format("{} {} {} {} {} {} {} {}", fit.method, fit.offset_ns, fit.reference_ns, fit.drift_ppm,
                                fit.samples, said(fit.mad_ns), said(fit.bound_lo_ns), said(fit.bound_hi_ns)));
    for (const ClockPiece& piece : fit.later)
      lines.push_back(fmt::format("  {} {} {} {} {}", piece.from_ns, piece.offset_ns, piece.reference_ns,
                                  piece.drift_ppm, piece.least_ns));
  }
  return lines;
}

}  // namespace

TEST_CASE("made rings: a job of stragglers is in files what it is in memory") {
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    MadeTraining job;
    job.seed = seed, job.hosts = 4, job.steps = 10, job.lost = seed % 2 == 0 ? 0.2 : 0;
    job.stragglers = {{seed, LateCause::host}, {15 - seed, seed % 2 == 0 ? LateCause::copy : LateCause::more_work}};
    const MadeEvents made(job);
    const WrittenRings rings(made.trace, false);
    const CollectiveCalls calls = made.calls();
    auto in_memory = lines_of(calls, made.trace.catalog, whole_text),
         in_files = lines_of(rings.calls, rings.catalog(), whole_text);
    add_work_lines(calls, made.trace.catalog, in_memory), add_work_lines(rings.calls, rings.catalog(), in_files);
    INFO("seed " << seed);
    check_same_lines(in_memory, in_files);
    const Lateness lateness = made.lateness();
    CHECK(lateness.ranks[seed].straggler);
    CHECK(lateness_lines(lateness, made.trace.catalog) ==
          lateness_lines(lateness_of(rings.calls, rings.catalog(), rings.fits()), rings.catalog()));
  }
}

TEST_CASE("made rings: of a job of 8 hosts the same collectives and clocks are found in files as in memory") {
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    MadeJob job;
    job.seed = seed, job.hosts = 8, job.steps = 10, job.lost = seed % 2 == 0 ? 0.1 : 0,
    job.most_late = seed % 2 == 0 ? 5 : 0;
    job.counted = seed == 4;
    if (seed == 3) job.set_host = 2, job.set_ns = 2e9;
    MadeCollectives made(job);
    for (std::size_t id = 0; id < made.calls.communicators.size(); ++id)
      made.calls.communicators[id].label = fmt::format("0x{:016x}", kFirstHash + id);
    const SmallTrace events = events_of(made);
    INFO("seed " << seed);
    check_same_lines(lines_of(made.calls, made.catalog, short_text), [&] {
      const WrittenRings rings(events, false);
      return lines_of(rings.calls, rings.catalog(), short_text);
    }());
    std::vector<std::uint32_t> domain_of;
    for (std::size_t rank = 0; rank < job.hosts * job.ranks_per_host; ++rank)
      domain_of.push_back(static_cast<std::uint32_t>(rank / job.ranks_per_host));
    std::vector<ClockFit> fits(job.hosts);
    fit_clocks(made.calls, match_collectives(made.calls, made.catalog), domain_of, std::nullopt, fits);
    CHECK(fits[1].method == "collectives");
    CHECK(fit_lines(WrittenRings(events, true).fits()) == fit_lines(fits));
  }
}
