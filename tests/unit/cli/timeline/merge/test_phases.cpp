#include <string>
#include <vector>

#include "cli/timeline/merge/ranks.h"
#include "tests/unit/catch.h"

using namespace cli;
namespace {

constexpr std::int64_t kSecond = 1'000'000'000, kStart = 1'760'000'000 * kSecond;

Process file(std::int64_t rank, const std::string& source, std::int64_t start_s, std::int64_t pid = 42) {
  Process p;
  p.format = SourceFormat::kineto;
  p.rank = rank, p.source = source, p.pid = pid;
  p.first_ns = kStart + start_s * kSecond, p.last_ns = p.first_ns + kSecond;
  return p;
}

std::string phases(Catalog& catalog) {
  name_phases(catalog);
  sort_processes(catalog);
  std::string all;
  for (const Process& p : catalog.processes) all += std::to_string(p.rank) + ":" + p.phase + " ";
  return all;
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("phases: the part in which names differ") {
  CHECK(phase_labels({"d/stage1-model_init_trace.json", "d/stage2-eval_bpb_trace.json.gz"}) ==
        Names{"stage1-model_init", "stage2-eval_bpb"});
  CHECK(phase_labels({"rank0-init.json", "rank0-init2.json"}) == Names{"init", "init2"});
  CHECK(phase_labels({"a_rank3.pt.trace.json", "b_rank3.pt.trace.json.zst"}) == Names{"a", "b"});
  CHECK(phase_labels({"w.17148385.pt.trace.json.gz", "w.17148399.pt.trace.json.gz"}) == Names{"17148385", "17148399"});
  CHECK(phase_labels({"step1.json", "step2.json"}) == Names{"step1", "step2"});
  CHECK(phase_labels({"stage1-x-a.json", "stage2-x-b.json"}) == Names{"stage1-x-a", "stage2-x-b"});
  CHECK(phase_labels({"stage1-x.json", "stage2-x.json"}) == Names{"stage1", "stage2"});
  CHECK(phase_labels({"run.json", "run-more.json"}) == Names{"run", "run-more"});
}

TEST_CASE("phases: files of one rank, in the order of time, for every rank") {
  Catalog catalog;
  for (const std::int64_t rank : {1, 0}) {
    const std::string end = "_rank" + std::to_string(rank) + ".json";
    catalog.add_process(file(rank, "t/stage1-model_init" + end, 30, 100 + rank));
    catalog.add_process(file(rank, "t/stage2-eval" + end, 10, 100 + rank));
    catalog.add_process(file(rank, "t/stage3-train" + end, 20, 100 + rank));
  }
  check_ranks(catalog);
  CHECK(phases(catalog) ==
        "0:stage2-eval 0:stage3-train 0:stage1-model_init 1:stage2-eval 1:stage3-train 1:stage1-model_init ");
  CHECK(repeated_ranks(catalog).empty());
}

TEST_CASE("phases: files without a rank are phases when they are of one process") {
  Catalog catalog;
  catalog.add_process(file(-1, "t/stage1-init_trace.json", 0));
  catalog.add_process(file(-1, "t/stage2-eval_trace.json", 5));
  catalog.add_process(file(-1, "t/other_trace.json", 5, 43));
  CHECK(phases(catalog) == "-1: -1:stage1-init -1:stage2-eval ");
}

TEST_CASE("phases: what else comes twice is refused with both names") {
  const auto refused = [](const Process& second) {
    Catalog catalog;
    catalog.add_process(file(3, "t/init.json", 0));
    catalog.add_process(second);
    CHECK(phases(catalog) == "3: 3: ");
    CHECK(repeated_ranks(catalog).size() == 1);
    CHECK_THROWS_WITH(check_ranks(catalog), contains_text("duplicate rank 3: ") && contains_text("t/init.json") &&
                                                contains_text(second.source));
  };
  refused(file(3, "t/overlaps.json", 0));
  refused(file(3, "another/init.json", 0));
  refused(file(3, "t/another_process.json", 5, 43));
  refused(file(3, "t/unknown_process.json", 5, -1));
  refused(file(3, "t/days_later.json", 200'000));
  Process elsewhere = file(3, "t/elsewhere.json", 5), ring = file(3, "t/a.ring", 5), empty = file(3, "t/empty.json", 5);
  elsewhere.host = "b";
  ring.format = SourceFormat::ring;
  empty.first_ns = empty.last_ns = 0, empty.pid = -1;
  refused(ring);
  CHECK(are_phases(file(3, "t/init.json", 0), empty));
  Process here = file(3, "t/here.json", 0);
  CHECK(are_phases(here, elsewhere));
  here.host = "a";
  CHECK_FALSE(are_phases(here, elsewhere));
}

TEST_CASE("phases: --rank says that files of two processes are of one rank") {
  Catalog catalog;
  for (const int i : {0, 1}) {
    catalog.add_process(file(0, i == 0 ? "init.json" : "train.json", 5 * i, 40 + i));
    catalog.processes.back().rank_source = RankSource::option;
  }
  check_ranks(catalog);
  CHECK(phases(catalog) == "0:init 0:train ");
}

TEST_CASE("phases: containers have the same process id in every run") {
  const auto fault = [](const char* a, const char* b) { return phases_fault(file(0, a, 0, 75), file(0, b, 3600, 75)); };
  for (const auto& [a, b] : {std::pair("exp1_rank0.json", "exp2_rank0.json"),
                             {"attempt0.json", "attempt1.json"},
                             {"run1/rank0.json", "run2/rank0.json"},
                             {"restart1/init.json", "restart2/init.json"},
                             {"t.json", "t_20240506-1011.json"},
                             {"attempt_0.json", "attempt_1.json"},
                             {"2024-05-06/rank0.json", "2024-05-07/rank0.json"}}) {
    CHECK_THAT(fault(a, b), contains_text("their names look like runs"));
  }
  CHECK(fault("t/rank0.json", "t/rank0.json") == "they have the same name");
  for (const auto& [a, b] : {std::pair("h_1.1714838500.json", "h_1.1714848500.json"),
                             {"rank0.100.pt.trace.json", "rank0.200.pt.trace.json"},
                             {"rank0_step_10.json", "rank0_step_20.json"},
                             {"iteration_10/rank0.json", "iteration_20/rank0.json"}}) {
    CHECK(fault(a, b).empty());
  }
  CHECK(fault("init/rank0.json", "opt/rank0.json").empty());
  CHECK(fault("init/h_1.1714838500.json", "opt/h_1.1714848500.json").empty());
  CHECK(phase_labels({"t/init/rank0.json", "t/opt/rank0.json"}) == Names{"init", "opt"});
}

TEST_CASE("phases: the rule that does not hold is named") {
  const Process a = file(0, "init.json", 0);
  Process b = file(0, "opt.json", 5);
  Process world = b, gpu = b, here = a;
  here.world_size = 2, world.world_size = 8;
  CHECK(phases_fault(here, world) == "their runs have 2 and 8 ranks");
  CHECK(are_phases(a, world));
  here.device_name = "H100", gpu.device_name = "A100";
  CHECK(phases_fault(here, gpu) == "their GPUs differ, H100 and A100");
  CHECK(phases_fault(a, file(0, "opt.json", 0)) == "their times overlap");
  CHECK(phases_fault(a, file(0, "opt.json", 5, 43)) == "they belong to different processes, 42 and 43");
  b.first_ns = 1, b.first_unclamped_ns = a.last_ns;  // one event at relative time 0
  CHECK(are_phases(a, b));
}

TEST_CASE("phases: what is taken for phases is said") {
  Catalog catalog;
  catalog.add_process(file(0, "init.json", 0));
  catalog.add_process(file(0, "opt.json", 5));
  CHECK(name_phases(catalog) == Names{"rank 0: treating 2 files as phases: init.json (init), opt.json (opt)"});
}
