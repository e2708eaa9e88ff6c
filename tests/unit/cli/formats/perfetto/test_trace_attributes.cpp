#include <map>
#include <protozero/pbf_reader.hpp>
#include <string>

#include "cli/formats/perfetto/pftrace.h"
#include "tests/unit/catch.h"
#include "tests/unit/cli/formats/export/small_trace.h"

using namespace cli;

namespace {

std::map<std::string, std::string> attributes(const Catalog& catalog, const std::vector<ClockFit>* fits) {
  std::map<std::string, std::string> found;
  const perfetto::Buffer content = perfetto::trace_attributes(catalog, fits);
  protozero::pbf_reader all(content.view().data(), content.size());
  while (all.next(1)) {
    protozero::pbf_reader one = all.get_message();
    std::string key, text;
    while (one.next()) {
      std::string& member = one.tag() == 1 ? key : text;
      member = one.get_string();
    }
    found[key] = text;
  }
  return found;
}

}  // namespace

TEST_CASE("pftrace: a file says how the clocks of its hosts lie") {
  SmallTrace t;
  t.process(0);
  std::vector<ClockFit> fits(3);
  fits[0].host = "node1", fits[0].method = "wall_clock";
  fits[1].host = "node2", fits[1].method = "collectives", fits[1].offset_ns = -1500, fits[1].drift_ppm = 2.5;
  fits[1].samples = 40, fits[1].bound_lo_ns = -1700, fits[1].bound_hi_ns = -1300;
  fits[2].method = "wall_clock";  // of a host without a name nothing is said
  const auto said = attributes(t.catalog, &fits);
  CHECK(said.at("clock of node1") == "offset 0 ns, drift 0 ppm, error unknown, by wall_clock from 0 samples");
  CHECK(said.at("clock of node2") ==
        "offset -1500 ns, drift 2.5 ppm, between -1700 and -1300 ns, by collectives from 40 samples");
  CHECK(said.size() == 5);
  CHECK(attributes(t.catalog, nullptr).size() == 3);
}

TEST_CASE("pftrace: attributes of phases have names of their own, of hostile names valid ones") {
  SmallTrace t;
  for (const char* phase : {"init", "train"}) t.catalog.processes[t.process(0)].phase = phase;
  t.catalog.processes[t.process(-1)].source = "a\xff";
  const auto said = attributes(t.catalog, nullptr);
  CHECK(said.at("rank 0 init source") == "traces/worker.ring");
  CHECK(said.at("rank 0 train source") == "traces/worker.ring");
  CHECK(said.at("a\xef\xbf\xbd source") == "a\xef\xbf\xbd");
}
