// Names of outputs that are several files, and the TAR that holds some.
#include <string>

#include "cli/show/export/export_job.h"
#include "cli/show/export/write_directory.h"
#include "cli/show/export/write_manifest.h"
#include "cli/trace/losses.h"
#include "small_trace.h"
#include "tests/unit/catch.h"

using namespace cli;

TEST_CASE("names of parts: the number stands before the ending") {
  CHECK(part_name("run.json.gz", 1, 5) == "run.segment1.json.gz");
  CHECK(part_name("a.b/run.pftrace", 2, 12) == "a.b/run.segment02.pftrace");
  CHECK(part_name("out/.json", 3, 3) == "out/.json.segment3");
  CHECK(part_name("run", 100, 100) == "run.segment100");
}

TEST_CASE("names of processes: rank, phase, source; none comes twice") {
  SmallTrace t;
  for (const std::int64_t rank : {0, 3, 3, 4, 4, -1, -1}) t.process(rank);
  t.catalog.processes[1].phase = "model init";
  t.catalog.processes[2].phase = "optimizer/step";
  t.catalog.processes[6].source = "x/worker-2.json";
  const auto names = process_file_names(t.catalog, ".json");
  CHECK(names == std::vector<std::string>{"rank0.json", "rank3-model_init.json", "rank3-optimizer_step.json",
                                          "rank4.json", "rank4-2.json", "worker.json", "worker-2.json"});
}

TEST_CASE("tar: what is 8 GiB or larger has its size in base 256") {
  StringSink sink;
  TarWriter tar(sink);
  tar.member("large", (std::uint64_t{1} << 33) + 5);
  CHECK(sink.text.size() == 512);
  CHECK(sink.text.substr(124, 12) == std::string("\x80\0\0\0\0\0\0\x02\0\0\0\x05", 12));
  StringSink small;
  TarWriter(small).member("small", (std::uint64_t{1} << 33) - 1);
  CHECK(small.text.substr(124, 12) == std::string("77777777777\0", 12));
}

TEST_CASE("chosen catalogue: same ids, nothing told of the others") {
  SmallTrace t;
  t.process(0), t.process(1);
  t.catalog.strings.intern("a"), t.catalog.strings.intern("b");
  t.catalog.processes[1].overwritten[0] = 7;
  REQUIRE(lost_everything(t.catalog.processes[1]));
  const Catalog some = chosen_catalog(t.catalog, {true, false});
  CHECK(some.strings[2] == "b");
  CHECK(!lost_everything(some.processes[1]));
  CHECK(loss_text(some.processes[1]).empty());
  CHECK(some.processes[0].rank == 0);
}
