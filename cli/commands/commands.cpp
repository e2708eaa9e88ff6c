#include "cli/commands/commands.h"

namespace cli {

const std::vector<Command>& commands() {
  static const std::vector<Command> all{record_command(), doctor_command(), runs_command(), info_command(),
                                         merge_command(),  analyze_command(), diff_command(), check_command(), diagnose_command(), report_command(),
                                         export_command(), open_command(), dump_command(), help_command(), pages_command(),
                                         look_command()};
  return all;
}

}  // namespace cli
