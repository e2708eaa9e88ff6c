#include <unistd.h>

#include <cstdlib>
#include <map>
#include <string>

#include "agent/base/host.h"
#include "tests/unit/catch.h"

using namespace agent;

namespace {

constexpr const char* kLaunchers[] = {"TORCHELASTIC_RUN_ID",
                                      "TORCHELASTIC_RESTART_COUNT",
                                      "SLURM_JOB_ID",
                                      "SLURM_STEP_ID",
                                      "SLURM_PROCID",
                                      "SLURM_RESTART_COUNT",
                                      "RANK",
                                      "OMPI_COMM_WORLD_RANK",
                                      "PMIX_NAMESPACE",
                                      "PMIX_RANK",
                                      "PMI_RANK"};
const std::string kTime = "20260101-000000";

std::string id_with(const std::map<std::string, std::string>& environment) {
  for (const char* name : kLaunchers) unsetenv(name);
  for (const auto& [name, value] : environment) setenv(name.c_str(), value.c_str(), 1);
  char id[64];
  run_id(id, sizeof(id));
  for (const char* name : kLaunchers) unsetenv(name);
  return id;
}

}  // namespace

TEST_CASE("the run's name comes from the launcher and is harmless as a directory") {
  CHECK(id_with({{"TORCHELASTIC_RUN_ID", "../../etc/passwd job"}, {"TORCHELASTIC_RESTART_COUNT", "2"}}) ==
        "_._.._etc_passwd_job-r2");
  CHECK(id_with({{"TORCHELASTIC_RUN_ID", "job"}}) == "job-r0");
  CHECK(id_with({{"TORCHELASTIC_RUN_ID", "none"}, {"SLURM_JOB_ID", "4711"}, {"SLURM_STEP_ID", "3"}}) == "slurm-4711.3");
  CHECK(id_with({}).size() == kTime.size());
}

TEST_CASE("each restart has a name of its own") {
  const std::map<std::string, std::string> again{{"TORCHELASTIC_RESTART_COUNT", "7"}};
  const auto with = [&](std::map<std::string, std::string> more) {
    more.insert(again.begin(), again.end());
    return id_with(more);
  };
  CHECK(with({{"TORCHELASTIC_RUN_ID", "none"}}).substr(kTime.size()) == "-r7");
  CHECK(with({{"TORCHELASTIC_RUN_ID", "none"}, {"SLURM_JOB_ID", "1"}, {"SLURM_STEP_ID", "2"}}) == "slurm-1.2-r7");
  const std::string long_id = with({{"TORCHELASTIC_RUN_ID", std::string(100, 'x')}});
  CHECK(long_id == std::string(60, 'x') + "-r7");
}

TEST_CASE("a job that was put back into the queue has a name of its own") {
  const auto with = [](const char* requeues) {
    return id_with({{"SLURM_JOB_ID", "1"}, {"SLURM_STEP_ID", "0"}, {"SLURM_RESTART_COUNT", requeues}});
  };
  CHECK(with("") == "slurm-1.0");
  CHECK(with("0") == "slurm-1.0");
  CHECK(with("1") == "slurm-1.0-q1");
  const std::map<std::string, std::string> restarted{{"TORCHELASTIC_RUN_ID", std::string(100, 'x')},
                                                     {"TORCHELASTIC_RESTART_COUNT", "7"},
                                                     {"SLURM_RESTART_COUNT", "2"}};
  CHECK(id_with(restarted) == std::string(57, 'x') + "-q2-r7");
  const std::map<std::string, std::string> endless{{"TORCHELASTIC_RUN_ID", "x"},
                                                   {"TORCHELASTIC_RESTART_COUNT", std::string(30, '7')},
                                                   {"SLURM_RESTART_COUNT", std::string(30, '2')}};
  CHECK(id_with(endless) == "x-q" + std::string(12, '2') + "-r" + std::string(12, '7'));
}

TEST_CASE("launches of one batch script have names of their own, ranks of one launch the same") {
  const std::string script = id_with({{"SLURM_JOB_ID", "1"}, {"SLURM_PROCID", "0"}});
  const std::string rank = id_with({{"SLURM_JOB_ID", "1"}, {"SLURM_PROCID", "0"}, {"RANK", "3"}});
  CHECK(script.size() == ("slurm-1." + kTime).size());
  CHECK(rank.size() == script.size());
  CHECK(rank == id_with({{"SLURM_JOB_ID", "1"}, {"SLURM_PROCID", "0"}, {"RANK", "4"}}));
  for (const char* step : {"", "9"}) {  // mpirun starts its helpers on other nodes as a step
    CHECK(id_with({{"SLURM_JOB_ID", "1"},
                   {"SLURM_STEP_ID", step},
                   {"OMPI_COMM_WORLD_RANK", "0"},
                   {"PMIX_NAMESPACE", "prterun-n1-42@1"}}) == "slurm-1.prterun-n1-42_1");
  }
}
