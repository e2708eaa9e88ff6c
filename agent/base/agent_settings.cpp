#include "agent/base/agent_settings.h"

#include <sys/single_threaded.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <string_view>

#include "agent/base/message.h"
#include "common/layout.h"
#include "common/nearest_word.h"

namespace agent {
namespace {

constexpr int kWalks = 8;  // tries if another thread changes the table meanwhile

constinit void** s_kept = nullptr;  // all tables made, linked, so that leak checkers find them

void* make(std::size_t bytes) {
  auto** made = static_cast<void**>(std::malloc(sizeof(void*) + bytes));
  if (made == nullptr) return nullptr;
  *made = s_kept;
  s_kept = made;
  return made + 1;
}

char* make_entry(const char* name, const char* value) {
  const std::size_t bytes = std::strlen(name) + std::strlen(value) + 2;
  auto* entry = static_cast<char*>(make(bytes));
  if (entry != nullptr) snprintf(entry, bytes, "%s=%s", name, value);
  return entry;
}

// Returns a copy of the table `old` with `entry` in place of `replaced`, or at its end. Returns null if `old` changed
// meanwhile. Its entries are not accessed, because they may have been freed.
char** make_table(char* const* old, const char* replaced, char* entry) {
  std::size_t count = 0;
  while (old[count] != nullptr) ++count;
  auto** table = static_cast<char**>(make((count + 2) * sizeof(*old)));
  if (table == nullptr) return nullptr;
  bool placed = false;
  for (std::size_t i = 0; i < count; ++i) {
    table[i] = old[i];
    if (table[i] == nullptr) return nullptr;
    if (table[i] != replaced) continue;
    table[i] = entry;
    placed = true;
  }
  table[count] = placed ? nullptr : entry;
  table[count + 1] = nullptr;
  return old[count] == nullptr ? table : nullptr;
}

// Uses libc's own name, because a program may have an `environ` that is another variable.
bool publish(const char* name, char* entry) {
  static constinit char* s_none[] = {nullptr};
  char** old = __atomic_load_n(&__environ, __ATOMIC_ACQUIRE);
  const char* value = std::getenv(name);
  const char* replaced = value == nullptr ? nullptr : value - std::strlen(name) - 1;  // the entry in the table
  char** table = make_table(old != nullptr ? old : s_none, replaced, entry);
  return table != nullptr &&
         __atomic_compare_exchange_n(&__environ, &old, table, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

constinit trace::Settings s_settings;
constinit char s_asked_events[sizeof(trace::FileHeader::events)] = "default";

// Uses the current working directory, because programs change it before they use the GPU for the first time.
void make_dir_absolute(trace::Settings& settings) {
  static constinit char path[2 * PATH_MAX];
  if (settings.dir[0] == '/' || getcwd(path, PATH_MAX) == nullptr) return;
  const char* below = std::strncmp(settings.dir, "./", 2) == 0 ? settings.dir + 2 : settings.dir;
  const std::size_t here = std::strlen(path);
  snprintf(path + here, sizeof(path) - here, "/%s", below);
  if (std::strlen(path) < sizeof(settings.dir)) trace::values::copy_text(settings.dir, path);
}

// Prints which word of the value is wrong, if the value has several words.
void say_refused(const trace::Setting& setting, const char* value) {
  const std::string_view word = trace::wrong_word(setting, value);
  const char* separator = word.empty() ? "" : ": ";
  say("%s=%s%s%.*s is not allowed (%s); using %s; see tracetool record --help", setting.name, value, separator,
      static_cast<int>(word.size()), word.data(), setting.allowed, setting.fallback);
}

// Prints one line if the name of a variable is close to the name of a setting. Other TRACETOOL_ variables are ignored: they may belong to other programs.
void say_misspelt(std::string_view name) {
  static constexpr std::string_view kPrefix = "TRACETOOL_";
  if (!name.starts_with(kPrefix) || trace::find_setting(name) != nullptr) return;
  const auto word_of = [](const trace::Setting& setting) {
    return std::string_view(setting.name).substr(kPrefix.size());
  };
  std::string_view words[std::size(trace::kSettings)];
  std::transform(std::begin(trace::kSettings), std::end(trace::kSettings), std::begin(words), word_of);
  const std::string_view meant = trace::nearest_word(name.substr(kPrefix.size()), words);
  if (meant.empty()) return;
  say("%.*s is not a setting; did you mean TRACETOOL_%.*s?", static_cast<int>(name.size()), name.data(),
      static_cast<int>(meant.size()), meant.data());
}

}  // namespace

void set_variable(const char* name, const char* value) noexcept {
  if (__libc_single_threaded) {
    setenv(name, value, 1);
    return;
  }
  char* entry = make_entry(name, value);
  for (int tries = 0; entry != nullptr && tries < kWalks; ++tries) {
    if (publish(name, entry)) return;
  }
}

bool wants(Event event) noexcept { return has(settings().events, event); }

EventSet light_part(EventSet events) noexcept {
  return events & (trace::kLightEvents | trace::only(trace::GraphLaunchRecord::kKind));
}

void read_settings() noexcept {
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
    const std::string_view text(*variable);
    say_misspelt(text.substr(0, text.find('=')));
  }
  static constinit trace::Settings s_before;
  for (const trace::Setting& setting : trace::kSettings) {
    const char* value = std::getenv(setting.name);
    if (value == nullptr) continue;
    s_before = s_settings;
    if (setting.set(s_settings, value)) {
      if (setting.set == trace::values::set_events) snprintf(s_asked_events, sizeof(s_asked_events), "%s", value);
      continue;
    }
    s_settings = s_before;
    say_refused(setting, value);
  }
  make_dir_absolute(s_settings);
}

const trace::Settings& settings() noexcept { return s_settings; }

const char* asked_events() noexcept { return s_asked_events; }

bool disabled_by_user() noexcept {
  const char* value = std::getenv("TRACETOOL_DISABLE");
  return value != nullptr && value[0] != '\0' && std::strcmp(value, "0") != 0;
}

}  // namespace agent
