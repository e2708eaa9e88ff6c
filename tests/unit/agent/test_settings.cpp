#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>

#include "agent/base/agent_settings.h"
#include "tests/unit/catch.h"

using namespace agent;
using trace::kSettings;
using trace::parse_bytes;
using trace::Setting;

TEST_CASE("sizes are numbers with K, M or G") {
  std::uint64_t bytes = 0;
  CHECK((parse_bytes("1048576", bytes) && bytes == 1048576));
  CHECK((parse_bytes("64K", bytes) && bytes == 64u << 10));
  CHECK((parse_bytes("256m", bytes) && bytes == 256u << 20));
  CHECK((parse_bytes("3G", bytes) && bytes == 3ull << 30));
  CHECK((parse_bytes("2GiB", bytes) && bytes == 2ull << 30));
  CHECK((parse_bytes("500MB", bytes) && bytes == 500'000'000));
  CHECK((parse_bytes("10kb", bytes) && bytes == 10'000));
  CHECK((parse_bytes("1P", bytes) && bytes == 1ull << 50));
  CHECK((parse_bytes("7B", bytes) && bytes == 7));
  for (const char* bad : {"", "M", "-1", "12Q", "1 M", "1MM", "0x10", "1Mi", "1iB", "1MBB", "1kM", "20000P", "-1MB",
                          "99999999999999999999", "18446744073709551615K"}) {
    INFO(bad);
    CHECK_FALSE(parse_bytes(bad, bytes));
  }
}

TEST_CASE("a bad value leaves the default, a good one is taken") {
  setenv("TRACETOOL_BUFFER", "lots", 1);
  setenv("TRACETOOL_FLUSH_MS", "0", 1);
  setenv("TRACETOOL_VERBOSE", "yes", 1);
  setenv("TRACETOOL_DIR", "", 1);
  read_settings();
  CHECK(settings().ring_bytes == 256ull << 20);
  CHECK(settings().flush_ms == 200);
  CHECK_FALSE(settings().verbose);
  CHECK(std::string(settings().dir) == std::filesystem::current_path().string() + "/traces");
  setenv("TRACETOOL_BUFFER", "1M", 1);
  setenv("TRACETOOL_FLUSH_MS", "50", 1);
  read_settings();
  CHECK(settings().ring_bytes == 1u << 20);
  CHECK(settings().flush_ms == 50);
}

TEST_CASE("what was asked of events is kept as it was written, where it means something") {
  setenv("TRACETOOL_EVENTS", "default", 1);
  read_settings();
  setenv("TRACETOOL_EVENTS", "everything", 1);
  read_settings();
  CHECK(std::string(asked_events()) == "default");
  setenv("TRACETOOL_EVENTS", "nccl,kernel", 1);
  read_settings();
  CHECK(std::string(asked_events()) == "nccl,kernel");
  std::string longest = "kernel";
  while (longest.size() < 300) longest += ",kernel";
  setenv("TRACETOOL_EVENTS", longest.c_str(), 1);
  read_settings();
  CHECK(std::string(asked_events()) == longest.substr(0, 127));
  setenv("TRACETOOL_EVENTS", "default", 1);
  read_settings();
  unsetenv("TRACETOOL_EVENTS");
}

TEST_CASE("a choice is one of its words") {
  trace::Settings chosen;
  CHECK(chosen.coexist == trace::Coexist::yield);
  CHECK(trace::values::set_coexist(chosen, "share"));
  CHECK(chosen.coexist == trace::Coexist::share);
  CHECK(trace::values::set_coexist(chosen, "retake"));
  CHECK(chosen.coexist == trace::Coexist::retake);
  CHECK(trace::values::set_nccl(chosen, "interpose"));
  CHECK(chosen.nccl == trace::NcclCapture::interpose);
  for (const char* wrong : {"", "Share", "shared", "2"}) CHECK_FALSE(trace::values::set_coexist(chosen, wrong));
  CHECK(chosen.coexist == trace::Coexist::retake);
}

TEST_CASE("only TRACETOOL_DISABLE with a value switches everything off") {
  unsetenv("TRACETOOL_DISABLE");
  CHECK_FALSE(disabled_by_user());
  setenv("TRACETOOL_DISABLE", "0", 1);
  CHECK_FALSE(disabled_by_user());
  setenv("TRACETOOL_DISABLE", "1", 1);
  CHECK(disabled_by_user());
}

TEST_CASE("every variable has a name, a default and a line of help") {
  for (const Setting& row : kSettings) {
    CHECK(std::strncmp(row.name, "TRACETOOL_", 10) == 0);
    CHECK(std::strlen(row.help) > 10);
    CHECK(row.fallback != nullptr);
  }
}
