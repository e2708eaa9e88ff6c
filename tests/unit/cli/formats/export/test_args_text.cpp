// Every field of every payload reaches the words that all formats share, and these reach every format.
#include <set>
#include <string>

#include "cli/formats/export/args_text.h"
#include "cli/formats/kineto/exporter.h"
#include "cli/formats/perfetto/pftrace.h"
#include "cli/formats/ttrace/columns.h"
#include "cli/trace/operator_inputs.h"
#include "small_trace.h"
#include "tests/unit/catch.h"

using namespace cli;
using namespace cli::ttrace;
using namespace cli::kineto;

namespace {

// A visitor of fields: sets the one with the number `which` to `to`, or all of them.
struct SetField {
  static constexpr std::size_t kAll = static_cast<std::size_t>(-1);
  template <typename T>
  void number(const char* name, T& value, bool = true) {
    if (which == kAll || which == at) {
      value = std::is_same_v<T, bool> ? static_cast<T>(to == 1)
                                      : static_cast<T>(std::string_view(name) == "has" ? 255 : to);
      changed = name;
    }
    ++at;
  }
  template <typename T>
  void delta(const char* name, T& value, bool = true) {
    number(name, value);
  }
  template <typename T>
  void hex(const char* name, T& value, bool = true) {
    number(name, value);
  }
  void string(const char* name, StringId& id, bool = true) { number(name, id); }
  template <typename T>
  void id(const char* name, InternedId<T>& id, bool = true) {
    number(name, id.value);
  }

  std::uint64_t to;
  std::size_t which = kAll;
  std::size_t at = 0;
  std::string changed = {};
};

// What the name of the event or its track says, or which of the other fields mean something.
bool is_said_elsewhere(const std::string& field) {
  static const std::set<std::string> fields{"direction", "from_memory",  "to_memory",    "memory",       "flags",
                                            "operation", "code",         "class",        "has",          "type",
                                            "device",    "asynchronous", "payload_type", "torch_thread", "reason"};
  return fields.count(field) != 0;
}

struct Trace : SmallTrace {
  Trace() {
    for (const char* text : {"one", "two", "three", "four", "five"}) catalog.strings.intern(text);
    for (std::uint64_t value = 1; value <= 5; ++value) {
      Launch launch;
      SetField all{value};
      visit_fields(all, launch);
      catalog.launches.intern(launch);
      Capture capture;
      SetField of_capture{value};
      visit_fields(of_capture, capture);
      capture.known = capture.in_call = capture.has_call = capture.has_range = true;
      catalog.captures.intern(capture);
      CollectiveOp op;
      SetField each{value};
      visit_fields(each, op);
      catalog.collective_ops.intern(op);
      OperatorInput input;
      input.type = input.value = static_cast<StringId>(value);
      input.dims = input.strides = intern_dims(catalog, {static_cast<std::int64_t>(value)});
      intern_inputs(catalog, {input});
      StackFrame frame;
      frame.name = static_cast<StringId>(value);
      catalog.stacks.intern(frame);
    }
    stream_ = stream(process(0));
  }
  TrackId stream_;
};

std::set<std::string> keys_of(std::string_view args) {
  std::set<std::string> keys;
  for (std::size_t at = 0; (at = args.find("\": ", at)) != args.npos; ++at) {
    const std::size_t begin = args.rfind('"', at - 1) + 1;
    keys.insert(std::string(args.substr(begin, at - begin)));
  }
  return keys;
}

// With 1 everywhere: what lies on a thread; with 5: what lies on a stream.
template <typename P>
P filled(std::uint64_t value = 1) {
  P payload;
  SetField all{value};
  visit_fields(all, payload);
  return payload;
}

}  // namespace

TEST_CASE("args: a field that changes changes the words") {
  Trace t;
  ArgsText args(t.catalog);
  Event event;
  event.track = t.stream_;
  for_each_payload([&]<typename P>(P*) {
    for (std::size_t field = 0; field < fields_of<P>(); ++field) {
      std::string name, texts;
      bool is_said = false;
      for (const std::uint64_t value : {1, 5}) {
        const std::string before(args(event, filled<P>(value)));
        P changed = filled<P>(value);
        SetField set{value == 1 ? 2u : 4u, field};  // such launches and captures there are
        visit_fields(set, changed);
        name = set.changed, texts += before + "; ";
        is_said = is_said || args(event, changed).text != before;
      }
      INFO("payload " << int{payload_tag<P>()} << ", field " << name << ": " << texts);
      if (!is_said_elsewhere(name)) CHECK(is_said);
    }
  });
}

TEST_CASE("args: a field of a launch or a capture that changes changes the words") {
  Trace t;
  Event event;
  event.track = t.stream_;
  const auto text = [&](const Launch& launch, const Capture& capture) {
    KernelFacts facts = filled<KernelFacts>();
    facts.launch = t.catalog.launches.intern(launch);
    facts.graph.capture = t.catalog.captures.intern(capture);
    return std::string(ArgsText(t.catalog)(event, facts));
  };
  const auto launch = filled<Launch>();
  const auto capture = filled<Capture>();
  const std::string before = text(launch, capture);
  for (std::size_t field = 0; field < fields_of<Launch>(); ++field) {
    Launch changed = launch;
    SetField set{2, field};
    visit_fields(set, changed);
    INFO("field " << set.changed << ": " << before);
    CHECK(text(changed, capture) != before);
  }
  for (std::size_t field = 0; field < fields_of<Capture>(); ++field) {
    Capture changed = capture;
    SetField set{2, field};
    visit_fields(set, changed);
    INFO("field " << set.changed << ": " << before);
    if (!is_said_elsewhere(set.changed)) CHECK(text(launch, changed) != before);
  }
}

TEST_CASE("args: a field of a collective operator that changes changes the words") {
  Trace t;
  Event event;
  event.track = t.stream_;
  const auto text = [&](const CollectiveOp& op) {
    OperatorFacts facts;
    facts.collective_op = t.catalog.collective_ops.intern(op);
    return std::string(ArgsText(t.catalog)(event, facts));
  };
  const auto op = filled<CollectiveOp>();
  for (std::size_t field = 0; field < fields_of<CollectiveOp>(); ++field) {
    CollectiveOp changed = op;
    SetField set{2, field};
    visit_fields(set, changed);
    INFO("field " << set.changed << ": " << text(op));
    CHECK(text(changed) != text(op));
  }
}

TEST_CASE("args: every format has every key") {
  for_each_payload([&]<typename P>(P*) {
    const auto exported = [](std::unique_ptr<Exporter> exporter) {
      Trace t;
      t.add(t.stream_, Kind::kernel, "work", kOrigin, 5, 0, filled<P>());
      return t.write(std::move(exporter));
    };
    Trace t;
    ArgsText args(t.catalog);
    Event event;
    event.track = t.stream_;
    const std::string chrome = exported(chrome::make_chrome_json()),
                      native = exported(make_pftrace({PacketCompression::none})), kineto = exported(make_exporter());
    for (const std::string& key : keys_of(args(event, filled<P>()))) {
      INFO("payload " << int{payload_tag<P>()} << ", key " << key);
      CHECK_THAT(chrome, contains_text('"' + key + "\":"));
      CHECK_THAT(native, contains_text(key));
      CHECK_THAT(kineto, contains_text('"' + key + "\":"));
    }
  });
}
