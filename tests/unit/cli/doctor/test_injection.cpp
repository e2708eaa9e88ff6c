#include <map>

#include "../scratch.h"
#include "cli/doctor/injection.h"
#include "tests/unit/catch.h"

using namespace cli;
using namespace cli::doctor;

namespace {

Injection plan(const InjectionOptions& options, const std::map<std::string, std::string>& environment) {
  return plan_injection(options, [&](const char* name) {
    const auto found = environment.find(name);
    return found == environment.end() ? nullptr : found->second.c_str();
  });
}

InjectionOptions of_agent() {
  InjectionOptions options;
  options.agent = "/opt/libagent.so";
  options.directory = "/tmp/traces";
  return options;
}

std::string value(const Injection& plan, const std::string& name) {
  for (const auto& [key, value] : plan.variables) {
    if (key == name) return value;
  }
  return "not set";
}

}  // namespace

TEST_CASE("injection: a free environment gets all of it") {
  InjectionOptions options = of_agent();
  options.settings.emplace_back("TRACETOOL_EVENTS", "light");
  const Injection done = plan(options, {});
  CHECK(value(done, "CUDA_INJECTION64_PATH") == "/opt/libagent.so");
  CHECK(value(done, "NVTX_INJECTION64_PATH") == "/opt/libagent.so");
  CHECK(value(done, "TRACETOOL_DIR") == "/tmp/traces");
  CHECK(value(done, "TRACETOOL_EVENTS") == "light");
  CHECK(value(done, "LD_PRELOAD") == "not set");
  CHECK((done.refused.empty() && done.warning.empty()));
}

TEST_CASE("injection: the folder is absolute, by the option, the variable, or the default") {
  InjectionOptions options = of_agent();
  options.directory = "there/../here";
  CHECK(value(plan(options, {}), "TRACETOOL_DIR") == std::filesystem::current_path().string() + "/here");
  options.directory = "";
  CHECK(value(plan(options, {{"TRACETOOL_DIR", "/x"}}), "TRACETOOL_DIR") == "/x");
  CHECK(value(plan(options, {}), "TRACETOOL_DIR") == std::filesystem::current_path().string() + "/traces");
}

TEST_CASE("injection: another tool's variable is not overwritten, unless it is wanted") {
  const std::map<std::string, std::string> nsys{{"CUDA_INJECTION64_PATH", "/opt/nvidia/libToolsInjection64.so"}};
  const Injection refused = plan(of_agent(), nsys);
  CHECK(refused.variables.empty());
  CHECK_THAT(refused.refused, contains_text("Nsight Systems") && contains_text("--force"));
  InjectionOptions forced = of_agent();
  forced.force = true;
  CHECK(value(plan(forced, nsys), "CUDA_INJECTION64_PATH") == "/opt/libagent.so");
  CHECK(plan(of_agent(), {{"CUDA_INJECTION64_PATH", "/opt/libagent.so"}}).refused.empty());  // it is ours
  const Injection nvtx = plan(of_agent(), {{"NVTX_INJECTION64_PATH", "/other.so"}});
  CHECK(value(nvtx, "NVTX_INJECTION64_PATH") == "not set");
  CHECK_THAT(nvtx.warning, contains_text("/other.so"));
}

TEST_CASE("injection: LD_PRELOAD keeps what it has") {
  InjectionOptions options = of_agent();
  options.preload = true;
  CHECK(value(plan(options, {}), "LD_PRELOAD") == "/opt/libagent.so");
  CHECK(value(plan(options, {{"LD_PRELOAD", "/a.so /b.so"}}), "LD_PRELOAD") == "/opt/libagent.so:/a.so /b.so");
  CHECK(value(plan(options, {{"LD_PRELOAD", "/opt/libagent.so:/a.so"}}), "LD_PRELOAD") == "/opt/libagent.so:/a.so");
}

TEST_CASE("agent file: what it is not is said") {
  const Scratch scratch;
  write_file(scratch.path("text.so"), "no library");
  write_file(scratch.path("empty.so"), "");
  CHECK(wrong_with_agent(scratch.path("text.so")) == "is not a shared library");
  CHECK(wrong_with_agent(scratch.path("empty.so")) == "is not a shared library");
  CHECK_THAT(wrong_with_agent(scratch.path("none.so")), contains_text("cannot be read"));
  std::string other(
      "\x7f"
      "ELF",
      4);
  other.resize(64);
  other[16] = 3;                                       // ET_DYN
  other[18] = static_cast<char>(0xf3), other[19] = 0;  // RISC-V
  write_file(scratch.path("riscv.so"), other);
  CHECK_THAT(wrong_with_agent(scratch.path("riscv.so")), contains_text("not built for this machine"));
}
