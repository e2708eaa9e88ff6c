// Where the options of `record` end and the program's words begin.
#pragma once
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace cli {

// The words of a command line, "tracetool" not among them, with "--" before the first that is no option of `app` and no
// value of one: what follows it is the program's, as with env(1) and nohup(1). Those for other commands stay.
std::vector<std::string> mark_command(const CLI::App& app, std::vector<std::string> words);

}  // namespace cli
