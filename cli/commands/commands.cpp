#include "cli/commands/commands.h"

namespace cli {

// The commands, in the order of the help.
#define COMMANDS \
  ENTRY(record) \
  ENTRY(doctor) \
  ENTRY(runs) \
  ENTRY(info) \
  ENTRY(merge) \
  ENTRY(analyze) \
  ENTRY(diff) \
  ENTRY(check) \
  ENTRY(diagnose) \
  ENTRY(report) \
  ENTRY(export) \
  ENTRY(open) \
  ENTRY(dump) \
  ENTRY(help) \
  ENTRY(pages) \
  ENTRY(look)
#define ENTRY(name) Command name##_command();
COMMANDS
#undef ENTRY

const std::vector<Command>& commands() {
#define ENTRY(name) name##_command(),
  static const std::vector<Command> all{COMMANDS};
#undef ENTRY
  return all;
}

}  // namespace cli
