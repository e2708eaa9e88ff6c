// Turns the records of a family into events. Each family is a class in a file of its own (ring_*_events.cpp, ring_notices.cpp)
// with a function
//
//   void translate(const trace::XRecord& record, std::size_t at)
//
// for each kind that is its; `at`: where the record lies in its block, for references. A kind without one is counted as
// unknown.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "cli/formats/ring/ring_file.h"
#include "cli/formats/ring/ring_output.h"

namespace cli {

class RingTranslator {
 public:
  virtual ~RingTranslator() = default;
  virtual void enter_block() {}
  // Records are missing here: what is open may have ended in them.
  virtual void skip_records() {}
  // After the last record. Also says to the process what was odd.
  virtual void finish() {}
};

struct RingHandler {
  RingTranslator* translator = nullptr;
  void (*translate)(RingTranslator&, const RingBlock&, std::size_t at, std::size_t size) = nullptr;  // null: unknown
};
using RingHandlers = std::array<RingHandler, 256>;  // by kind of record

template <typename Translator>
std::unique_ptr<RingTranslator> make_translator(RingOutput& out, RingHandlers& handlers) {
  auto translator = std::make_unique<Translator>(out);
  trace::for_each_record([&]<typename R>(R*) {
    if constexpr (requires(Translator& t, const R& record) { t.translate(record, std::size_t{}); }) {
      handlers[static_cast<std::size_t>(R::kKind)] = {
          translator.get(), [](RingTranslator& to, const RingBlock& block, std::size_t at, std::size_t size) {
            static_cast<Translator&>(to).translate(record_at<R>(block.payload, at, size), at);
          }};
    }
  });
  return translator;
}

// `out` outlives what they return.
std::unique_ptr<RingTranslator> device_translator(RingOutput& out, RingHandlers& handlers);
std::unique_ptr<RingTranslator> host_translator(RingOutput& out, RingHandlers& handlers);
std::unique_ptr<RingTranslator> operator_translator(RingOutput& out, RingHandlers& handlers);
std::unique_ptr<RingTranslator> python_translator(RingOutput& out, RingHandlers& handlers);
std::unique_ptr<RingTranslator> notice_translator(RingOutput& out, RingHandlers& handlers);

}  // namespace cli
