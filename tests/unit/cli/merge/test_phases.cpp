#include <string>
#include <vector>

#include "cli/merge/phases.h"
#include "cli/merge/ranks.h"
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
  CHECK(differing_parts({"d/stage1-model_init_trace.json", "d/stage2-eval_bpb_trace.json.gz"}) ==
        Names{"model_init", "eval_bpb"});
  CHECK(differing_parts({"rank0-init.json", "rank0-init2.json"}) == Names{"init", "init2"});
  CHECK(differing_parts({"a_rank3.pt.trace.json", "b_rank3.pt.trace.json.zst"}) == Names{"a", "b"});
  CHECK(differing_parts({"w.17148385.pt.trace.json.gz", "w.17148399.pt.trace.json.gz"}) ==
        Names{"17148385", "17148399"});
  CHECK(differing_parts({"step1.json", "step2.json"}) == Names{"step1", "step2"});
  CHECK(differing_parts({"stage1-x-a.json", "stage2-x-b.json"}) == Names{"x-a", "x-b"});
  CHECK(differing_parts({"stage1-x.json", "stage2-x.json"}) == Names{"stage1", "stage2"});
  CHECK(differing_parts({"run.json", "run-more.json"}) == Names{"run", "run-more"});
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
  CHECK(phases(catalog) == "0:eval 0:train 0:model_init 1:eval 1:train 1:model_init ");
  CHECK(repeated_ranks(catalog).empty());
}

TEST_CASE("phases: files without a rank are phases when they are of one process") {
  Catalog catalog;
  catalog.add_process(file(-1, "t/stage1-init_trace.json", 0));
  catalog.add_process(file(-1, "t/stage2-eval_trace.json", 5));
  catalog.add_process(file(-1, "t/other_trace.json", 5, 43));
  CHECK(phases(catalog) == "-1: -1:init -1:eval ");
}

TEST_CASE("phases: what else comes twice is refused with both names") {
  const auto refused = [](const Process& second) {
    Catalog catalog;
    catalog.add_process(file(3, "t/init.json", 0));
    catalog.add_process(second);
    CHECK(phases(catalog) == "3: 3: ");
    CHECK(repeated_ranks(catalog).size() == 1);
    CHECK_THROWS_WITH(check_ranks(catalog), contains_text("rank 3 comes twice: ") && contains_text("t/init.json") &&
                                                contains_text(second.source));
  };
  refused(file(3, "t/overlaps.json", 0));
  refused(file(3, "another/init.json", 5));
  refused(file(3, "t/another_process.json", 5, 43));
  refused(file(3, "t/unknown_process.json", 5, -1));
  refused(file(3, "t/days_later.json", 200'000));
  Process elsewhere = file(3, "t/elsewhere.json", 5), ring = file(3, "t/a.ring", 5), empty = file(3, "t/empty.json", 5);
  elsewhere.host = "b";
  ring.format = SourceFormat::ring;
  empty.first_ns = empty.last_ns = 0;
  refused(ring);
  refused(empty);
  Process here = file(3, "t/here.json", 0);
  CHECK(are_phases(here, elsewhere));
  here.host = "a";
  CHECK_FALSE(are_phases(here, elsewhere));
}

TEST_CASE("phases: --rank says that files of two processes are of one rank") {
  Catalog catalog;
  for (const int i : {0, 1}) {
    catalog.add_process(file(0, i == 0 ? "init.json" : "train.json", 5 * i, 40 + i));
    catalog.processes.back().rank_source = "--rank";
  }
  check_ranks(catalog);
  CHECK(phases(catalog) == "0:init 0:train ");
}
