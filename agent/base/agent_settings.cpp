#include "agent/base/agent_settings.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "agent/base/message.h"
#include "common/layout.h"

namespace agent {
namespace {

constinit Settings s_settings;
constinit char s_asked_events[sizeof(trace::FileHeader::events)] = "default";

// By where the process is now: programs change to other directories before they use the GPU for the first time.
void make_dir_absolute(Settings& settings) {
  static constinit char path[2 * PATH_MAX];
  if (settings.dir[0] == '/' || getcwd(path, PATH_MAX) == nullptr) return;
  const char* below = std::strncmp(settings.dir, "./", 2) == 0 ? settings.dir + 2 : settings.dir;
  const std::size_t here = std::strlen(path);
  snprintf(path + here, sizeof(path) - here, "/%s", below);
  if (std::strlen(path) < sizeof(settings.dir)) trace::values::copy_text(settings.dir, path);
}

// Which word it is, where it is one of several.
void say_refused(const Setting& setting, const char* value) {
  const std::string_view word = trace::wrong_word(setting, value);
  const bool named = !word.empty();
  say("%s=%s is not a value for it%s%.*s (%s); using %s", setting.name, value, named ? ", for its word " : "",
      static_cast<int>(word.size()), word.data(), setting.help, setting.fallback);
}

}  // namespace

void read_settings() noexcept {
  static constinit Settings s_before;
  for (const Setting& setting : kSettings) {
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

const Settings& settings() noexcept { return s_settings; }

const char* asked_events() noexcept { return s_asked_events; }

bool disabled_by_user() noexcept {
  const char* value = std::getenv("TRACETOOL_DISABLE");
  return value != nullptr && value[0] != '\0' && std::strcmp(value, "0") != 0;
}

}  // namespace agent
