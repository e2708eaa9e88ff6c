// The settings of this process (common/settings.h), read once when recording starts. A bad value is one line on stderr
// and the default.
#pragma once
#include "common/event_choice.h"
#include "common/settings.h"

namespace agent {

// Variables for the process and its children. The driver may load us in the middle of the run, while other threads read
// the environment: setenv(3) frees the table that they are reading when it needs a larger one.

// Sets it, whether it was set or not. Where the process has other threads, what a getenv(3) in one of them is reading
// stays as it is, for good; beside a setenv(3) in one of them it is done again, or in the worst case not at all. Does
// nothing where there is no memory. One thread at a time.
void set_variable(const char* name, const char* value) noexcept;

// The user's choice of events (common/event_choice.h) within the agent.
using trace::Event;
using trace::EventSet;
using trace::has;
using trace::kDefaultEvents;
using trace::kEventWords;
using trace::kLightEvents;
using trace::kNamedSets;
using trace::only;

// Whether TRACETOOL_EVENTS asks for it. Valid after read_settings(); the cost guard does not change it.
bool wants(Event event) noexcept;
// What is left of the user's choice when the cost guard reduces it.
EventSet light_part(EventSet events) noexcept;

using trace::kSettings;
using trace::NcclCapture;
using trace::parse_bytes;
using trace::Setting;
using trace::Settings;

// Once, by one thread: its room is not on the stack, which may be of a thread that has next to none.
void read_settings() noexcept;
const Settings& settings() noexcept;
// TRACETOOL_EVENTS as it was asked for, "default" where it was not; cut where it does not fit a header.
const char* asked_events() noexcept;
// TRACETOOL_DISABLE is set to anything but 0 or "".
bool disabled_by_user() noexcept;

}  // namespace agent
