#include "agent/base/event_choice.h"

#include "agent/base/settings.h"

namespace agent {

bool wants(Event event) noexcept { return has(settings().events, event); }

EventSet light_part(EventSet events) noexcept { return events & (kLightEvents | only(trace::GraphLaunchRecord::kKind)); }

}  // namespace agent
