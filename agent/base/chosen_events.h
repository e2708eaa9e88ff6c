// The user's choice of events (common/event_choice.h) within the agent.
#pragma once
#include "common/event_choice.h"

namespace agent {

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

}  // namespace agent
