#include "agent/base/chosen_events.h"

#include "agent/base/agent_settings.h"

namespace agent {

bool wants(Event event) noexcept { return has(settings().events, event); }

EventSet light_part(EventSet events) noexcept { return events & (kLightEvents | only(trace::GraphLaunchRecord::kKind)); }

}  // namespace agent
