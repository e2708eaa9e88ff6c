// Collectives over ranks in exports, as bytes: tests/golden/export_collectives.json and pftrace_collectives.txt.
#include "cli/formats/perfetto/pftrace.h"
#include "golden.h"
#include "small_trace.h"
#include "tests/unit/catch.h"
#include "tests/unit/cli/formats/perfetto/pftrace_text.h"

using namespace cli;

namespace {

const char* const kAllReduce = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)";

// Rank 1 is the last in the first, rank 0 in the second; of a broadcast one has ended before another begins.
SmallTrace three_ranks(SourceFormat format = SourceFormat::kineto) {
  SmallTrace t;
  CollectiveOp op;
  op.name = t.catalog.strings.intern("allreduce"), op.group_name = t.catalog.strings.intern("0"),
  op.data_type = t.catalog.strings.intern("BFloat16");
  op.group_description = t.catalog.strings.intern("default_pg"), op.group_size = 3,
  op.in_elements = op.out_elements = 1000;
  ProfiledKernelFacts reduce, broadcast;
  reduce.collective_op = t.catalog.collective_ops.intern(op);
  op.name = t.catalog.strings.intern("broadcast");
  broadcast.collective_op = t.catalog.collective_ops.intern(op);
  const std::int64_t starts[3][3] = {{100, 1300, 2000}, {400, 1200, 2010}, {250, 1250, 2300}};
  const std::int64_t ends[3][3] = {{900, 1800, 2100}, {910, 1810, 2400}, {920, 1790, 2500}};
  for (int rank = 0; rank < 3; ++rank) {
    const ProcessId p = t.process(rank);
    t.catalog.processes[p].format = format;
    const TrackId stream = t.stream(p, 20);
    for (int i = 0; i < 3; ++i) {
      ProfiledKernelFacts facts = i == 2 ? broadcast : reduce;
      facts.sequence = static_cast<std::uint64_t>(41 + i);
      t.add(stream, Kind::kernel, i == 2 ? "ncclDevKernel_Broadcast_RING_LL()" : kAllReduce, kOrigin + starts[rank][i],
            ends[rank][i] - starts[rank][i], 0, facts);
    }
  }
  t.computed = {DerivedTrack::collectives};
  t.joins_ranks = true;
  return t;
}

void check_summary(const ExportSummary& summary) {
  CHECK(summary.balanced());
  CHECK((summary.slices_out == 9 && summary.flows_out == 0));
  CHECK(summary.derived_slices == 2 * (2 + 3));  // of the all-reduces: two waits, three transfers
  CHECK((summary.collective_flows == 2 + 2 + 1 && summary.unjoined_calls == 1));
}

}  // namespace

TEST_CASE("export: collectives are joined over ranks") {
  SmallTrace t = three_ranks();
  golden::compare("export_collectives.json", t.json());
  check_summary(t.summary);
  t.joins_ranks = false;
  CHECK(t.json().find("\"cat\":\"collective\"") == std::string::npos);
  CHECK((t.summary.collective_flows == 0 && t.summary.unjoined_calls == 0 && t.summary.derived_slices == 0));
}

TEST_CASE("pftrace: collectives are joined over ranks") {
  SmallTrace t = three_ranks();
  golden::compare("pftrace_collectives.txt",
                  pftrace_text::Text().of(t.write(make_pftrace({PacketCompression::none, false}))));
  check_summary(t.summary);
  t.write(make_pftrace({PacketCompression::none, true}));  // a render stage takes no such flow
  CHECK((t.summary.collective_flows == 0 && t.summary.derived_slices == 10));
}

TEST_CASE("export: of collectives at one time each has a lane where they do not nest") {
  SmallTrace t = three_ranks();
  const TrackId other = t.stream(0, 21);
  const auto other_of = [&](ProcessId p) { return p == 0 ? other : t.stream(p, 21); };
  for (ProcessId p = 0; p < 3; ++p) {
    ProfiledKernelFacts facts = *t.events[3 * p].second.get<ProfiledKernelFacts>();
    facts.sequence = 60;
    t.add(other_of(p), Kind::kernel, kAllReduce, kOrigin + 150 + 10 * p, 1000, 0, facts);
  }
  const std::string json = t.json();
  CHECK(json.find("\"communicator 0 default_pg (2)\"") != std::string::npos);
  CHECK(t.summary.derived_slices == 10 + 5);
}
