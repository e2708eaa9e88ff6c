// The settings of this process (common/settings.h), read once when recording starts. A bad value prints one line on
// stderr and is replaced by the default.
#pragma once
#include "common/event_choice.h"
#include "common/settings.h"

namespace agent {

// Environment variables for the process and its children. The driver may load us in the middle of the run, while other
// threads read the environment, and setenv(3) frees the table that they read if it needs a larger one.

// Sets the variable, whether it was set or not. If the process has other threads, memory that a getenv(3) may be
// reading is never freed. If a setenv(3) runs at the same time, the change is repeated, or in the worst case lost. Does
// nothing if no memory is available. One thread at a time.
void set_variable(const char* name, const char* value) noexcept;

// The user's choice of events (common/event_choice.h) within the agent.
using trace::Event;
using trace::EventSet;
using trace::has;

// Returns true if TRACETOOL_EVENTS requests the event. Valid after read_settings(); the cost guard does not change it.
bool wants(Event event) noexcept;
// Returns the part of the user's choice that remains when the cost guard reduces it.
EventSet light_part(EventSet events) noexcept;

// Reads the settings once, on one thread. Uses no stack memory, because the thread may have a very small stack.
void read_settings() noexcept;
const trace::Settings& settings() noexcept;
// Returns TRACETOOL_EVENTS as given, or "default"; cut if it does not fit the header.
const char* asked_events() noexcept;
// Returns true if TRACETOOL_DISABLE is set to anything but 0 or "".
bool disabled_by_user() noexcept;

}  // namespace agent
