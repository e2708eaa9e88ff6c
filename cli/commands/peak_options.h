// --peak-tflops and --peak-gb-per-s: peaks of GPUs that the table lacks (analyze/gpu_peaks.h), or others than its.
#pragma once
#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "cli/answers/tables/gpu_peaks.h"

namespace cli {

struct PeakOptions {
  std::vector<std::string> tflops;
  double gb_per_s = 0;
  // Throws Error (usage).
  OwnPeaks peaks() const { return own_peaks_of(tflops, gb_per_s); }
};

inline std::shared_ptr<PeakOptions> add_peaks(CLI::App& app) {
  auto options = std::make_shared<PeakOptions>();
  app.add_option("--peak-tflops", options->tflops, "Dense peak of the GPUs in TFLOP/s, for all types or per type: bf16=989,fp8=1979")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("[TYPE=]N,...");
  app.add_option("--peak-gb-per-s", options->gb_per_s, "Peak memory bandwidth of the GPUs in 10^9 bytes per second")->check(CLI::PositiveNumber)->type_name("N");
  return options;
}

}  // namespace cli
