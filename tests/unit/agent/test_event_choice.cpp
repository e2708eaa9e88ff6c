#include <cstdlib>
#include <cstring>
#include <string>

#include "agent/base/agent_settings.h"
#include "agent/translate/translate.h"
#include "tests/unit/catch.h"

using namespace agent;
using trace::kDefaultEvents;
using trace::kEventWords;
using trace::kLightEvents;
using trace::kNamedSets;
using trace::kSettings;
using trace::only;
using trace::Setting;

namespace {

EventSet chosen(const char* text) {
  EventSet events = 0;
  INFO(text);
  REQUIRE(trace::parse_events(text, events));
  return events;
}

}  // namespace

TEST_CASE("the named sets lie within each other") {
  CHECK(chosen("light") == kLightEvents);
  CHECK(chosen("default") == kDefaultEvents);
  CHECK((kLightEvents & ~kDefaultEvents) == 0);
  CHECK((kDefaultEvents & ~chosen("all")) == 0);
  CHECK(chosen("all") == (kDefaultEvents | only(trace::MemoryRecord::kKind) | only(trace::MemoryPoolRecord::kKind)));
  for (const Event call : {trace::RuntimeRecord::kKind, trace::DriverRecord::kKind, trace::SyncRecord::kKind,
                           trace::OverheadRecord::kKind})
    CHECK_FALSE(has(kLightEvents, call));
  for (const Event work : {trace::KernelRecord::kKind, trace::MemcpyRecord::kKind, trace::MemcpyPeerRecord::kKind,
                           trace::MemsetRecord::kKind, trace::NvtxPushRecord::kKind, trace::NcclCallRecord::kKind})
    CHECK(has(kLightEvents, work));
}

TEST_CASE("every word means its event") {
  CHECK(chosen("graph_launch") == only(trace::GraphLaunchRecord::kKind));
  CHECK(chosen("nccl") == only(trace::NcclCallRecord::kKind));
  for (const trace::EventWord& row : kEventWords) {
    CHECK(chosen(row.word.data()) == only(row.event));
  }
}

TEST_CASE("words add, and take away with a minus; a list that begins with a sign changes the default") {
  CHECK(chosen("light,runtime") == (kLightEvents | only(trace::RuntimeRecord::kKind)));
  CHECK(chosen("default,-overhead,+memory") ==
        ((kDefaultEvents & ~only(trace::OverheadRecord::kKind)) | only(trace::MemoryRecord::kKind)));
  CHECK(chosen("-nvtx") == (kDefaultEvents & ~only(trace::NvtxPushRecord::kKind)));
  CHECK(chosen("+memory") == (kDefaultEvents | only(trace::MemoryRecord::kKind)));
  CHECK(chosen("kernel,nccl") == (only(trace::KernelRecord::kKind) | only(trace::NcclCallRecord::kKind)));
  CHECK(chosen("all,-light") == (chosen("all") & ~kLightEvents));
  CHECK(chosen("default,-runtime,runtime") == kDefaultEvents);
}

TEST_CASE("whole graphs come instead of their nodes") {
  const EventSet graphs =
      (kDefaultEvents & ~only(trace::GraphNodeRecord::kKind)) | only(trace::GraphLaunchRecord::kKind);
  CHECK(chosen("default,graph_launch") == graphs);
  CHECK(chosen("graph_launch,default") == graphs);
  CHECK(chosen("+graph_launch") == graphs);
  CHECK(chosen("default,-graph_node,graph_launch") == graphs);
  CHECK(chosen("graph_launch,graph_node,-graph_node") == only(trace::GraphLaunchRecord::kKind));
  EventSet events = 7;
  CHECK_FALSE(trace::parse_events("graph_node,graph_launch", events));
  CHECK_FALSE(trace::parse_events("default,+graph_node,+graph_launch", events));
  CHECK(events == 7);
  CHECK(light_part(graphs) ==
        ((kLightEvents & ~only(trace::GraphNodeRecord::kKind)) | only(trace::GraphLaunchRecord::kKind)));
}

TEST_CASE("the word that is none is named") {
  CHECK(trace::unknown_word("kernel,kernle,what") == "kernle");
  CHECK(trace::unknown_word("default,-overhed") == "overhed");
  CHECK(trace::unknown_word("light default") == "light default");
  for (const char* none : {"", ",", "kernel,,nvtx", "+", "-all", "graph_node,graph_launch"}) {
    INFO(none);
    CHECK(trace::unknown_word(none).empty());
  }
}

TEST_CASE("what is no list of sets and kinds is refused, and nothing is changed") {
  EventSet events = 7;
  for (const char* bad :
       {"", ",", "kernel,", ",kernel", "kernels", "Kernel", " kernel", "kernel memcpy", "+", "-", "--nvtx",
        "kernel,,nvtx", "default,-", "kernel,-kernel", "-all", "-default", "42", "kernel\n", "defaul"}) {
    INFO(bad);
    CHECK_FALSE(trace::parse_events(bad, events));
  }
  CHECK(events == 7);
}

TEST_CASE("what can be chosen is recorded: by a translator, or by another source than CUPTI's records") {
  EventSet recorded = only(trace::NvtxPushRecord::kKind) | only(trace::NcclCallRecord::kKind) |
                      only(trace::DeviceRecord::kKind) | only(trace::GraphNodeRecord::kKind);
  for (const Translator* row = kTranslators; row->translate != nullptr; ++row) recorded |= only(row->record);
  for (const trace::EventWord& row : kEventWords) {
    INFO(row.word);
    CHECK(has(recorded, row.event));
  }
}

TEST_CASE("the help of TRACETOOL_EVENTS names every set and every kind") {
  for (const Setting& row : kSettings) {
    if (std::strcmp(row.name, "TRACETOOL_EVENTS") != 0) continue;
    for (const char* set : kNamedSets) CHECK_THAT(row.help, contains_text(set));
    for (const trace::EventWord& event : kEventWords) CHECK_THAT(row.help, contains_text(std::string(event.word)));
    return;
  }
  FAIL("no such row");
}
