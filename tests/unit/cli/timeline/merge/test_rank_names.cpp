#include <optional>
#include <string>
#include <vector>

#include "cli/timeline/merge/ranks.h"
#include "tests/unit/catch.h"

using namespace cli;
namespace {

using Ranks = std::vector<std::optional<std::int64_t>>;
using Names = std::vector<std::string>;

std::optional<std::int64_t> rank_of(const std::string& path) { return rank_names({path})[0]; }

Process profile(const std::string& source, std::int64_t start_ns) {
  Process p;
  p.format = SourceFormat::kineto;
  p.source = source;
  p.first_ns = start_ns, p.last_ns = start_ns + 1000;
  return p;
}

Catalog profiles(const Names& sources, std::int64_t apart_ns = 1) {
  Catalog catalog;
  for (std::size_t i = 0; i < sources.size(); ++i)
    catalog.add_process(profile(sources[i], 1 + static_cast<std::int64_t>(i) * apart_ns));
  return catalog;
}

Ranks ranks_in(const Catalog& catalog) {
  Ranks ranks;
  for (const Process& process : catalog.processes)
    ranks.push_back(process.rank < 0 ? std::nullopt : std::optional(process.rank));
  return ranks;
}

}  // namespace

TEST_CASE("rank names: a number after the word is the rank") {
  CHECK(rank_of("rank3") == 3);
  CHECK(rank_of("a/rank-3.json") == 3);
  CHECK(rank_of("x_rank_12.pt.trace.json.gz") == 12);
  CHECK(rank_of("rank0of16.json") == 0);
  CHECK(rank_of("...-gpu-rank-01-chrome-trace.json.gz") == 1);
  CHECK(rank_of("worker3_step_12.1694128201557.json") == 3);
  CHECK(rank_of("Rank7.json") == 7);
  CHECK(rank_of("worker9-rank2.json") == 2);
  CHECK(rank_of("exp[llama2]-rank[5].171500000000.pt.trace.json") == 5);
  CHECK(rank_of("trace_rank=6.json") == 6);
  CHECK(rank_of("trace.rank.7.json") == 7);
  CHECK(rank_of("dp0_pp1_tp0_ep3_rank3.1715000000003.pt.trace.json.gz") == 3);
  CHECK_FALSE(rank_of("num_workers_4.json"));
  CHECK_FALSE(rank_of("frank3.json"));
  CHECK_FALSE(rank_of("rank5/trace.json"));
  CHECK_FALSE(rank_of("rank.json"));
  CHECK_FALSE(rank_of("rank99999999999999999999.json"));
  CHECK_FALSE(rank_of("rank.1715000000.json"));
}

TEST_CASE("rank names: the rank of something else is none") {
  CHECK_FALSE(rank_of("llama-lora_rank16_bs8.json"));
  CHECK_FALSE(rank_of("tp_rank_0_pp_rank_1.json"));
  CHECK_FALSE(rank_of("local_rank_1.json"));
  CHECK_FALSE(rank_of("gpu-worker-12_5002.1715000000002.pt.trace.json"));
  CHECK(rank_names({"job-worker-0.json", "job-master-0.json"}) == Ranks{{}, {}});
  CHECK(rank_names({"num_workers_8_worker_0.json", "num_workers_8_worker_1.json"}) == Ranks{0, 1});
}

TEST_CASE("rank names: of several numbers the one that differs is the rank") {
  CHECK(rank_names({"lora_rank16_rank0.json", "lora_rank16_rank1.json"}) == Ranks{0, 1});
  CHECK(rank_names({"rank16_x_rank0.json", "rank16_x_rank1.json"}) == Ranks{0, 1});
  CHECK(rank_names({"rank0_rank0.json", "rank1_rank1.json"}) == Ranks{{}, {}});
  CHECK(rank_names({"stage1-init_rank3.json", "stage2-train_rank3.json"}) == Ranks{3, 3});
}

TEST_CASE("rank names: a directory for each rank") {
  CHECK(rank_names({"t/rank_0/trace.json", "t/rank_1/trace.json"}) == Ranks{0, 1});
  CHECK(rank_names({"t/rank16/trace.json", "t/rank32/trace.json"}) == Ranks{{}, {}});  // may be those of LoRA
  CHECK(rank_names({"t/lora_rank_0/a.json", "t/lora_rank_1/a.json"}) == Ranks{{}, {}});
  CHECK(without_rank_directories({"rank_0", "rank_1", "it10/rank0", "it10/rank1", "other"}) ==
        Names{".", ".", "it10", "it10", "other"});
  CHECK(without_rank_directories({"rank16", "rank32"}) == Names{"rank16", "rank32"});
  CHECK(without_rank_directories({"rank0"}) == Names{"rank0"});
}

TEST_CASE("rank names: names that count 0 to N-1 are ranks, if the files ran at one time") {
  Catalog counted = profiles({"profile_0.json", "profile_1.json", "profile_2.json"});
  CHECK_THAT(count_ranks(counted), contains_text("ranks 0 to 2 are the numbers in the file names"));
  CHECK(ranks_in(counted) == Ranks{0, 1, 2});
  Catalog timed = profiles({"fit-0_0.1715000000000.pt.trace.json", "fit-1_0.1715000000001.pt.trace.json"});
  count_ranks(timed);
  CHECK(ranks_in(timed) == Ranks{0, 1});
  for (const Names& names : {Names{"tp_rank_0_pp_rank_0.json", "tp_rank_1_pp_rank_1.json"},
                             Names{"a_1.json", "a_2.json"}, Names{"a.json", "b.json"}}) {
    Catalog unknown = profiles(names);
    CHECK_THAT(count_ranks(unknown),
               contains_text("the ranks of 2 files are unknown") && contains_text("--rank N=FILE"));
    CHECK(ranks_in(unknown) == Ranks{{}, {}});
  }
  Catalog apart = profiles({"step_0.json", "step_1.json"}, 5000);
  CHECK(count_ranks(apart).empty());
  CHECK(ranks_in(apart) == Ranks{{}, {}});
}

TEST_CASE("rank names: the content wins") {
  Catalog catalog = profiles({"rank0.json"});
  catalog.processes[0].rank = 4;
  give_named_rank(catalog, 0, 0);
  CHECK(catalog.processes[0].rank == 4);
  catalog.processes[0].rank = -1;
  give_named_rank(catalog, 0, 0);
  CHECK((catalog.processes[0].rank == 0 && catalog.processes[0].rank_source == RankSource::file_name));
}

namespace {

Process report_process(const std::string& source, std::int64_t rank, RankSource from) {
  Process process;
  process.source = source, process.format = SourceFormat::nsys, process.rank = rank, process.rank_source = from;
  return process;
}

}  // namespace

TEST_CASE("rank names: the order of the GPUs continues over the reports of several hosts") {
  Catalog catalog;
  for (const char* const source : {"node9.sqlite", "node10.sqlite"}) {
    const std::size_t first = catalog.processes.size();
    for (const std::int64_t rank : {1, 0}) {
      Process process = report_process(source, rank, RankSource::device_order);
      process.first_ns = 1, process.last_ns = 1000;
      process.pid = static_cast<std::int64_t>(catalog.processes.size());
      catalog.add_process(process);
    }
    continue_device_ranks(catalog, first);
  }
  CHECK(ranks_in(catalog) == Ranks{1, 0, 3, 2});
  CHECK_THAT(device_ranks_text(catalog), contains_text("ranks 0-3 follow the order of the GPUs in 2 reports"));
}

TEST_CASE("rank names: reports that follow each other are not of several hosts") {
  Catalog catalog;
  for (const std::int64_t start_ns : {1, 2000}) {
    const std::size_t first = catalog.processes.size();
    Process process = report_process(start_ns == 1 ? "a.sqlite" : "b.sqlite", 0, RankSource::device_order);
    process.first_ns = start_ns, process.last_ns = start_ns + 1000;
    catalog.add_process(process);
    continue_device_ranks(catalog, first);
  }
  CHECK(ranks_in(catalog) == Ranks{0, 0});  // check_ranks() refuses them
}

TEST_CASE("rank names: a report of one process takes the rank from its name") {
  Catalog catalog;
  catalog.add_process(report_process("rank5.sqlite", -1, RankSource::unknown));
  give_named_rank(catalog, 0, 5);
  CHECK(ranks_in(catalog) == Ranks{5});
}
