#include "cli/commands/commands.h"

namespace cli {

const std::vector<Command>& commands() {
  static const std::vector<Command> rows{info_command(), merge_command(), export_command(), dump_command()};
  return rows;
}

}  // namespace cli
