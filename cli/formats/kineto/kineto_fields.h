// What single fields of a Kineto event mean, without any other event.
#pragma once
#include <cstdint>
#include <optional>

#include "cli/trace/event.h"
#include "cli/formats/kineto/kineto_category.h"
#include "cli/formats/kineto/kineto_event.h"

namespace cli {

// Why an event was refused: at which byte of its text (nullptr: its first), and what was expected.
struct KinetoRefusal {
  const char* at;
  const char* expected;
};

struct KinetoTimes {
  std::int64_t start_ns = 0, duration_ns = 0;  // since 1970; the duration of phase X alone
  bool odd_duration = false;                   // missing, negative or absurd: taken as 0
};

// The single character of `ph`; '\0' for anything else.
inline char kineto_phase(const KinetoEvent& raw) {
  return raw.ph.is_string() && raw.ph.text.size() == 1 ? raw.ph.text[0] : '\0';
}
std::optional<KinetoRefusal> refuse_kineto_phase(const KinetoEvent& raw);  // nullopt: it has one

// `base_ns` is baseTimeNanoseconds. nullopt: they are read.
std::optional<KinetoRefusal> read_kineto_times(const KinetoEvent& raw, std::int64_t base_ns, KinetoTimes& times);

Kind kineto_kind(char phase, const KinetoCategory& category);

// Of an instant: t, p or g; '\0': none that is known.
char kineto_scope(const KinetoEvent& raw);

// Id of a flow or async event, of whatever form; 0 when there is none.
std::uint64_t kineto_id(const JsonScalar& id);

}  // namespace cli
