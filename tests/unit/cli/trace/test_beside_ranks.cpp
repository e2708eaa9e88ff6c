#include "cli/trace/ranks.h"
#include "tests/unit/catch.h"

using namespace cli;

namespace {

Process beside_process(std::int64_t rank, const char* run = "job7") {
  Process process;
  process.rank = rank;
  process.rank_source = rank < 0 ? RankSource::unknown : RankSource::content;
  process.run_id = run;
  process.pid = 10 + rank;
  process.program = "python3 train.py";
  return process;
}

std::vector<bool> beside_of(Process other, Process rank = beside_process(0)) {
  Catalog catalog;
  catalog.processes = {std::move(rank), std::move(other)};
  return beside_ranks(catalog);
}

}  // namespace

TEST_CASE("What has no rank beside ranks of its run, and used no GPU, is no rank", "[beside]") {
  CHECK(beside_of(beside_process(-1)) == std::vector<bool>{false, true});
  CHECK(process_words(beside_process(-1)) == "pid 9 (python3 train.py)");
}

TEST_CASE("A profile without rank and GPU work is beside the profiles of ranks that have some", "[beside]") {
  const auto profile = [](std::int64_t rank, std::int64_t kernels) {
    Process process = beside_process(rank, "");
    process.format = SourceFormat::kineto;
    process.counts[static_cast<std::size_t>(Kind::kernel)] = kernels;
    process.devices.resize(1);  // of the machine
    return process;
  };
  CHECK(beside_of(profile(-1, 0), profile(0, 3)) == std::vector<bool>{false, true});
  CHECK(beside_of(profile(-1, 3), profile(0, 3)) == std::vector<bool>{false, false});
  CHECK(beside_of(profile(-1, 0), profile(0, 0)) == std::vector<bool>{false, false});
  CHECK(beside_of(profile(-1, 0), profile(-1, 3)) == std::vector<bool>{false, false});
}

TEST_CASE("Ranks, other runs and what used a GPU are not beside the ranks", "[beside]") {
  const std::vector<bool> none{false, false};
  CHECK(beside_of(beside_process(1)) == none);
  CHECK(beside_of(beside_process(-1), beside_process(-1)) == none);
  CHECK(beside_of(beside_process(-1, "job8")) == none);
  CHECK(beside_of(beside_process(-1, ""), beside_process(0, "")) == none);
  Process busy = beside_process(-1);
  busy.overwritten[static_cast<std::size_t>(Kind::memset)] = 1;
  CHECK(beside_of(busy) == none);
  Process named = beside_process(0);
  named.rank_source = RankSource::option;  // a person said it, of a recording that did not know it
  CHECK(beside_of(beside_process(-1), named) == none);
}
