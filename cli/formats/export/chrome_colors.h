// Colours that stay the same for a kind of work, whatever it is called: communication, matrix products, copies, waits,
// and our computed tracks. The rest keeps the colour that a viewer makes of the name.
//
// chrome://tracing knows them as "cname", one of the names of Catapult's palette (tracing/base/color_scheme.html; it
// throws at any other). Perfetto passes cname over and makes colours of names without their digits, so that there, too,
// all idle slices of one unit look alike.
#pragma once
#include <string_view>

#include "cli/trace/derived.h"
#include "cli/trace/event.h"

namespace cli {

// "" where the name decides. `name` of a kernel counts.
std::string_view chrome_color(Kind kind, std::string_view name);
std::string_view chrome_color(DerivedTrack track);

}  // namespace cli
