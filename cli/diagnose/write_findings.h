// Findings as text for people, and as JSON.
#pragma once
#include <string>

#include "cli/diagnose/diagnose.h"
#include "cli/io/byte_sink.h"

namespace cli {

std::string findings_text(const Diagnosis& diagnosis);

// {"findings":[{"rule","severity","title","ranks":[],"steps":[],"saving_ns","evidence":[{"rank","start_ns","end_ns","what"}],"advice",
// "source","next_command"}],"processes","length_ns","steps":[],"notes":[]}; null is unknown.
void write_findings_json(const Diagnosis& diagnosis, ByteSink& sink);

}  // namespace cli
