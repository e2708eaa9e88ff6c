#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <memory>
#include <new>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "cli/base/error.h"
#include "cli/base/large_pages.h"
#include "cli/base/output_file.h"
#include "cli/base/text.h"
#include "cli/commands/commands.h"
#include "cli/commands/options.h"
#include "cli/commands/run_program.h"
#include "cli/commit.h"
#include "cli/formats/ttrace/file.h"
#include "cli/trace/version.h"
#include "common/layout.h"

namespace {

constexpr const char* kDescription =
    "tracetool: see where GPU time goes in distributed training, rank by rank.\n"
    "Reads the recordings of libagent.so (*.ring), Kineto traces (*.json, *.json.gz) and merged traces (*.ttrace).";

constexpr const char* kFooter =
    "`tracetool PATH` prints what is in traces, where the time went, and what to change first.\n"
    "\n"
    "A run from its recording to a timeline:\n"
    "  tracetool record -- torchrun --nproc-per-node=8 train.py   # into ./traces\n"
    "  tracetool doctor traces/                                   # is every rank recorded? if not, why?\n"
    "  tracetool runs traces/                                     # list the runs\n"
    "  tracetool info traces/                                     # ranks, GPUs, events, losses\n"
    "  tracetool merge traces/ -o run.ttrace                      # all ranks on one time axis\n"
    "  tracetool analyze run.ttrace                               # where the time went\n"
    "  tracetool diff before/ after/                              # what changed\n"
    "  tracetool export --perfetto run.ttrace -o run.json.gz      # open it in ui.perfetto.dev\n"
    "\n"
    "PATH is a file, a directory (its newest run, or the run given with --run) or a glob. `tracetool help COMMAND` explains a\n"
    "command.\n"
    "Exit status: 0 success, 1 usage error, 2 cannot open or write a file, 3 bad content, 4 check failed, 5 cannot be judged.";

constexpr std::size_t kHelpWidth = 110;

// Breaks descriptions of options into lines of at most kHelpWidth characters. No continuation line begins with "-", so that it does not look like an option.
class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_option_desc(const CLI::Option* option) const override {
    std::istringstream words(option->get_description());
    std::string text;
    std::size_t width = get_column_width();
    for (std::string word; words >> word;) {
      const bool fits = text.empty() || word.starts_with('-') || width + 1 + word.size() <= kHelpWidth;
      if (!text.empty()) text += fits ? ' ' : '\n';
      width = (fits ? width + 1 : get_column_width()) + word.size();
      text += word;
    }
    return text;
  }
};

std::string version_text() {
  const std::string commit = *TRACETOOL_COMMIT == '\0' ? "" : " (" TRACETOOL_COMMIT ")";
  return fmt::format("tracetool {}{}\nreads recordings (*.ring) of format {} and merged files (*.ttrace) of format {}",
                     TRACETOOL_VERSION, commit, trace::kFormatVersion, cli::ttrace::kMergedVersion);
}

int code(cli::Exit exit) { return static_cast<int>(exit); }

// Opens standard streams that are closed: the next file would get their number, and messages would go into it. Writing to a
// closed stdout still fails; messages to a closed stderr are dropped. Programs started by tracetool have these streams closed.
void open_standard_streams() {
  constexpr std::pair<int, int> kStreams[] = {
      {STDIN_FILENO, O_WRONLY}, {STDOUT_FILENO, O_RDONLY}, {STDERR_FILENO, O_WRONLY}};
  for (const auto& [fd, flags] : kStreams) {
    if (::fcntl(fd, F_GETFD) < 0 && ::open("/dev/null", flags | O_CLOEXEC) != fd) ::_exit(code(cli::Exit::cannot_open));
  }
}

// Lets a write beyond `ulimit -f` fail with a message. SIG_IGN would be inherited by programs started by tracetool.
void survive_file_limit() {
  struct sigaction now {};
  ::sigaction(SIGXFSZ, nullptr, &now);
  if (now.sa_handler == SIG_DFL) ::signal(SIGXFSZ, [](int) {});
}

int fail(cli::Exit exit, const std::string& message) {
  cli::print_error("tracetool: " + message);
  return code(exit);
}

bool is_command(std::string_view word) {
  const auto& all = cli::commands();
  return std::any_of(all.begin(), all.end(), [&](const cli::Command& command) { return command.name == word; });
}

// Returns the words of the command line, with kCommandOfPaths in front if the first word is a path. Throws if the first word is neither a path,
// an option nor a command; CLI11 would call it an unexpected argument.
std::vector<std::string> words_of(int argc, char** argv) {
  std::vector<std::string> words{argv + 1, argv + argc};
  const std::string first = words.front();
  if (is_command(first) || (first.starts_with('-') && first != "-")) return words;
  std::error_code error;
  const bool is_path =
      first.find_first_of("/*?.") != first.npos || first == "-" || std::filesystem::exists(first, error);
  if (!is_path) cli::refuse_command(first);
  words.insert(words.begin(), cli::kCommandOfPaths);
  return words;
}

std::function<void()> add_commands(CLI::App& app) {
  auto chosen = std::make_shared<std::function<void()>>();
  for (const cli::Command& command : cli::commands()) {
    CLI::App* sub = app.add_subcommand(std::string(command.name), std::string(command.help));
    sub->footer(std::string(command.details));
    if (command.is_hidden) sub->group("");
    sub->callback([chosen, run = command.set_up(*sub)] { *chosen = run; });
    if (command.name != "record") cli::add_terminal_options(*sub);
  }
  return [chosen] { (*chosen)(); };
}

// Refuses "--output=$OUT" if OUT is unset: CLI11 would use the next word as the value.
void refuse_empty_values(const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    if (word == "--") return;
    if (word.starts_with("--") && word.find('=') == word.size() - 1)
      throw CLI::ValidationError(word.substr(0, word.size() - 1), "is empty");
  }
}

// Returns the words in reverse order, as CLI11 expects them.
std::vector<std::string> words_for(const CLI::App& app, int argc, char** argv) {
  const CLI::App& record = *app.get_subcommand("record");
  std::vector<std::string> words = cli::mark_command(record, words_of(argc, argv));
  refuse_empty_values(words);
  std::reverse(words.begin(), words.end());
  return words;
}

// Returns false after --help or --version, which print their text and leave nothing to run.
bool parse(CLI::App& app, std::vector<std::string> words) {
  try {
    app.parse(std::move(words));
    return true;
  } catch (const CLI::Success& asked) {
    std::ostringstream text;
    app.exit(asked, text, text);
    cli::OutputFile out("-");
    out.write(text.str());
    out.finish();
    return false;
  }
}

}  // namespace

int main(int argc, char** argv) {
  open_standard_streams();
  survive_file_limit();
  cli::use_large_pages();
  CLI::App app(kDescription, "tracetool");
  app.footer(kFooter);
  app.formatter(std::make_shared<HelpFormatter>());
  app.set_version_flag("-V,--version", version_text, "Print the version, the commit and the supported file formats");
  app.require_subcommand(1);
  const std::function<void()> run = add_commands(app);
  try {
    if (argc < 2) {
      std::fputs(app.help().c_str(), stderr);
      return code(cli::Exit::usage);
    }
    if (parse(app, words_for(app, argc, argv))) run();
    return code(cli::Exit::done);
  } catch (const CLI::ParseError& error) {
    return fail(cli::Exit::usage, cli::usage_text(app, error));
  } catch (const cli::Error& error) {
    return fail(error.exit(), error.what());
  } catch (const std::bad_alloc&) {
    return fail(cli::Exit::cannot_open, "out of memory; close other programs, or lower --memory");
  } catch (const std::exception& error) {
    return fail(cli::Exit::bad_content,
                fmt::format("unexpected error: {}; please report it with the input", error.what()));
  }
}
