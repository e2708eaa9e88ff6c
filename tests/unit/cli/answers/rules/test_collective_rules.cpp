// Rules over collectives that were made by hand: comm-slow, straggler, comm-exposed.
#include "cli/answers/rules/rule.h"
#include "tests/unit/catch.h"

using namespace cli;
using namespace cli::rules;

namespace {

// Communicators of two ranks each, that reduce `bytes` each in so many ns, kTransfers times.
constexpr std::int64_t kTransfers = 10, kBytes = 1 << 20;

struct MadeGroups {
  Catalog catalog;
  TraceCollectives collectives;
  std::vector<ProcessSteps> found;
  Steps steps;
  std::vector<bool> chosen;
  ProcessClocks clocks;
  bool one_clock = true;

  explicit MadeGroups(const std::vector<std::int64_t>& transfer_ns) {
    CollectiveWhat what;
    what.operation = Operation::all_reduce;
    what.message_bytes = kBytes;
    const WhatId id = collectives.calls.whats.intern(what);
    for (std::uint32_t group = 0; group < transfer_ns.size(); ++group) {
      collectives.calls.communicators.push_back({"group" + std::to_string(group), "", 0, 2, "", ""});
      collectives.matched.groups.push_back({group, {2 * group, 2 * group + 1}, 2, true});
      for (ProcessId rank = 2 * group; rank < 2 * group + 2; ++rank) {
        Process process;
        process.rank = rank;
        catalog.processes.push_back(process);
        collectives.calls.processes.emplace_back().lanes.emplace_back().communicator = group;
      }
      for (std::int64_t i = 0; i < kTransfers; ++i) add(group, id, i, transfer_ns[group]);
    }
    found.resize(catalog.processes.size());
    steps.resize(catalog.processes.size());
    chosen.assign(catalog.processes.size(), true);
  }

  // One rank comes 500 ns later: waiting for it is no transfer.
  void add(std::uint32_t group, WhatId id, std::int64_t i, std::int64_t transfer_ns) {
    MatchedCollective collective;
    collective.group = group, collective.ordinal = i, collective.what = id;
    collective.first_call = static_cast<std::uint32_t>(collectives.matched.calls.size()), collective.calls = 2;
    for (ProcessId rank = 2 * group; rank < 2 * group + 2; ++rank) {
      CollectiveCall call;
      const std::int64_t start_ns = i * 1'000'000;
      call.what = id, call.gpu_start_ns = start_ns + (rank % 2) * 500, call.gpu_end_ns = start_ns + 500 + transfer_ns;
      call.position = i;
      collectives.matched.calls.push_back({rank, 0, static_cast<std::uint32_t>(i)});
      collectives.calls.processes[rank].lanes[0].calls.push_back(call);
    }
    collectives.matched.collectives.push_back(collective);
  }

  std::vector<Finding> find(std::string_view rule, std::int64_t length_ns,
                            const std::vector<ResultTable>& tables = {}) {
    collectives.clocks.domains.assign(catalog.processes.size(), 0);
    for (ProcessId id = 0; id < catalog.processes.size() && !one_clock; ++id)
      collectives.clocks.domains[id] = static_cast<std::uint32_t>(id);
    collectives.clocks.errors_ns.resize(catalog.processes.size());
    const AnalysisContext context{
        catalog, Windows(catalog.processes.size()), found, steps, chosen, 0, clocks, {}, nullptr, 0, &collectives};
    for (const RuleEntry& entry : rule_entries()) {
      if (entry.name != rule) continue;
      const DiagnosedTime time{std::vector<std::int64_t>(catalog.processes.size(), length_ns), length_ns, 0};
      return entry.make(context)->find({context, time}, tables);
    }
    return {};
  }
};

bool contains(const std::string& text, std::string_view part) { return text.find(part) != text.npos; }

}  // namespace

TEST_CASE("diagnose: a communicator that is slower than like ones") {
  const std::vector<Finding> findings = MadeGroups({10'000, 17'000, 10'000, 10'200}).find("comm-slow", 1'000'000);
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].ranks == std::vector<std::int64_t>{2, 3});
  CHECK(findings[0].saving_ns == kTransfers * 7'000);  // against the median, 10'000
  CHECK(findings[0].title ==
        "communicator group1 of ranks 2-3 is slow: all_reduce takes 17.00 us, in similar communicators 10.00 us");
  REQUIRE(findings[0].evidence.size() == kMostEvidence);
  CHECK(findings[0].evidence[0].start_ns == 500);
  CHECK(findings[0].evidence[0].end_ns == 17'500);
}

TEST_CASE("diagnose: communicators that are alike, too few, or cost little are not slow") {
  CHECK(MadeGroups({10'000, 16'600, 10'000, 10'200}).find("comm-slow", 1'000'000).empty());  // 60.2 %
  CHECK(MadeGroups({10'000, 17'000}).find("comm-slow", 1'000'000).empty());
  CHECK(MadeGroups({10'000, 17'000, 10'000}).find("comm-slow", 7'000'001).empty());
  CHECK_FALSE(MadeGroups({10'000, 17'000, 10'000}).find("comm-slow", 6'999'999).empty());
}

TEST_CASE("diagnose: what to do about a late rank depends on what its host did") {
  MadeGroups made({10'000});
  ResultTable table{"stragglers",
                    {{"rank", Unit::count, ""},
                     {"straggler", Unit::yes_no, ""},
                     {"delayed_ns", Unit::ns, ""},
                     {"cause", Unit::text, ""}},
                    {},
                    {}};
  for (const std::int64_t rank : {0, 1})
    table.rows.push_back({Cell(rank), Cell(true), Cell(std::int64_t{50'000}), Cell(std::string("host"))});
  made.collectives.calls.processes[0].host_delay = {1000, 501, {}};
  made.collectives.calls.processes[1].host_delay = {1000, 499, {}};
  std::vector<Finding> findings = made.find("straggler", 1'000'000, {table});
  REQUIRE(findings.size() == 2);
  CHECK(findings[0].advice.find("gc.freeze()") != std::string::npos);
  CHECK(findings[1].advice.find("gc.freeze()") == std::string::npos);
  made.collectives.calls.processes[0].host_delay.in_calls = {{0, 1001}};
  findings = made.find("straggler", 1'000'000, {table});
  REQUIRE(findings.size() == 2);
  CHECK(findings[0].advice.find("gc.freeze()") == std::string::npos);
}

TEST_CASE("diagnose: waiting for a rank is not communication that overlap could hide") {
  MadeGroups made({10'000});
  for (auto& process : made.collectives.calls.processes) {
    for (CollectiveCall& call : process.lanes[0].calls) call.exposed_ns = call.gpu_end_ns - call.gpu_start_ns;
  }
  // Ten transfers of 10 us; rank 0 waits 500 ns for each.
  const auto temporal = [](std::int64_t exposed_ns) {
    ResultTable table{
        "temporal", {{"rank", Unit::count, ""}, {"exposed_comm_ns", Unit::ns, ""}, {"comm_ns", Unit::ns, ""}}, {}, {}};
    for (const std::int64_t rank : {0, 1})
      table.rows.push_back({Cell(rank), Cell(exposed_ns - rank * 5'000), Cell(exposed_ns - rank * 5'000)});
    return table;
  };
  std::vector<Finding> findings = made.find("comm-exposed", 400'000, {temporal(105'000)});
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].ranks == std::vector<std::int64_t>{0, 1});
  CHECK(findings[0].saving_ns == 100'000);
  CHECK(contains(findings[0].title, "communication is exposed for 100.0 us (25.0 %); "));
  CHECK(contains(findings[0].title, "5.000 us (1.2 %) of waiting for other ranks is excluded"));
  CHECK(findings[0].evidence[0].start_ns == 500);
  CHECK(made.find("comm-exposed", 510'000, {temporal(105'000)}).empty());  // with the waits it would be more than 20 %

  // Communication that is matched with none: nobody knows how much of it is waiting.
  findings = made.find("comm-exposed", 1'000'000, {temporal(405'000)});
  REQUIRE(findings.size() == 1);
  CHECK_FALSE(findings[0].saving_ns);
  CHECK(contains(findings[0].title,
                 "exposed for 400.0 us (40.0 %), which includes an unknown amount of waiting for other ranks"));
  findings = made.find("comm-exposed", 400'000, {temporal(155'000)});
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].saving_ns == 100'000);
  CHECK(contains(findings[0].title, "another 50.00 us (12.5 %) may be waiting for other ranks"));
}

TEST_CASE("diagnose: where clocks cannot be compared, the shortest call is that of the last rank") {
  MadeGroups made({10'000});
  for (CollectiveCall& call : made.collectives.calls.processes[1].lanes[0].calls)
    call.gpu_start_ns += 7'000'000, call.gpu_end_ns += 7'000'000;
  for (auto& process : made.collectives.calls.processes) {
    for (CollectiveCall& call : process.lanes[0].calls) call.exposed_ns = call.gpu_end_ns - call.gpu_start_ns;
  }
  made.one_clock = false;
  ResultTable table{
      "temporal", {{"rank", Unit::count, ""}, {"exposed_comm_ns", Unit::ns, ""}, {"comm_ns", Unit::ns, ""}}, {}, {}};
  for (const std::int64_t rank : {0, 1})
    table.rows.push_back({Cell(rank), Cell(105'000 - rank * 5'000), Cell(105'000 - rank * 5'000)});
  const std::vector<Finding> findings = made.find("comm-exposed", 400'000, {table});
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].saving_ns == 100'000);
}
