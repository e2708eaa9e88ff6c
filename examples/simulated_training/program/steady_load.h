// A program that launches at a steady rate and never waits for the device: its host runs ahead as far as --ahead-us says.
#pragma once
#include "gpu.h"
#include "options.h"

namespace sim {

// Options::threads threads, each with Options::streams streams that take turns, for steps times step-us. With
// Options::graphs a launch is that of a graph of 20 kernels.
void run_steady_load(const Options& options, Gpu& gpu);

}  // namespace sim
