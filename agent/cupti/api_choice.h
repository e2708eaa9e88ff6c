// Which API calls are worth a record. Runtime calls: all but those that training loops make without end and that say
// nothing about time; those that record a CUDA event only where events are wanted. Driver calls: those that launch, copy, set, allocate, load or wait; PyTorch's runtime calls would
// each bring their driver call as a double, Triton and torch.compile launch by the driver alone.
#pragma once
#include <cupti.h>

namespace agent {

// True: the chosen driver calls are enabled one by one. False: this CUPTI cannot; enable the kind.
bool choose_driver_calls() noexcept;
// Takes that back. False: this CUPTI cannot; disable the kind.
bool leave_driver_calls() noexcept;
// Leaves the noise out, where this CUPTI can.
void deny_runtime_noise() noexcept;
// Whether it is a call that nobody chose: CUPTI before 12.5 records a kind as a whole or not at all.
bool is_left_out(const CUpti_Activity* activity) noexcept;

}  // namespace agent
