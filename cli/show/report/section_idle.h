// The columns of the table idle that add up to the idle time, with their fills.
#pragma once
#include <array>

#include "cli/show/report/fills.h"

namespace cli::report {

struct IdleFill {
  const char* key;
  Fill fill;
};
inline constexpr std::array kIdleFills{
    IdleFill{"sync_ns", Fill::waiting},           IdleFill{"copy_ns", Fill::blocking_copy},
    IdleFill{"after_sync_ns", Fill::after_wait},  IdleFill{"host_late_ns", Fill::host_late},
    IdleFill{"launch_ns", Fill::launching},       IdleFill{"queued_ns", Fill::queued},
    IdleFill{"unexplained_ns", Fill::unexplained}};

}  // namespace cli::report
