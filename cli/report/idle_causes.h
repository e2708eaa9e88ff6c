// The columns of the table idle that sum to the idle time, with what they look like.
#pragma once
#include <array>

#include "cli/report/fills.h"

namespace cli {

struct IdleCause {
  const char* key;
  Fill fill;
};
inline constexpr std::array kIdleCauses{IdleCause{"sync_ns", Fill::waiting},        IdleCause{"copy_ns", Fill::blocking_copy}, IdleCause{"after_sync_ns", Fill::after_wait},
                                        IdleCause{"host_late_ns", Fill::host_late}, IdleCause{"launch_ns", Fill::launching},   IdleCause{"queued_ns", Fill::queued},
                                        IdleCause{"unexplained_ns", Fill::unexplained}};

}  // namespace cli
