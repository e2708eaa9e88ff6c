// What a thread of the host did, of ranges that were made by hand.
#include "cli/answers/rules/gap_claims.h"
#include "tests/unit/catch.h"

using namespace cli;
using namespace cli::rules;

namespace {

struct MadeThread {
  Catalog catalog;
  TrackId track = 0;

  MadeThread() { track = catalog.track(catalog.add_process({}), TrackKind::thread, 7, 8); }
  Event range(Kind kind, std::string_view name, std::int64_t start_ns, std::int64_t end_ns) {
    Event event;
    event.kind = kind;
    event.phase = 'X';
    event.track = track;
    event.name = catalog.strings.intern(name);
    event.start_ns = start_ns;
    event.duration_ns = end_ns - start_ns;
    return event;
  }
};

}  // namespace

TEST_CASE("diagnose: what a host was in") {
  MadeThread made;
  const Event step = made.range(Kind::user_annotation, "ProfilerStep#3", 0, 1000),
              call = made.range(Kind::runtime, "cudaMalloc", 10, 20);
  const Event outer = made.range(Kind::cpu_op, "aten::item", 100, 200),
              inner = made.range(Kind::runtime, "cudaMemcpyAsync", 120, 180);
  HostActivity activity(made.catalog);
  CHECK(activity.text(made.track, 15) == "host state unknown");
  activity.event(call);
  CHECK(activity.text(made.track, 15) == "in cudaMalloc");
  CHECK(activity.text(made.track, 25) == "host state unknown");  // calls of CUDA alone: the rest is not known
  activity.event(step);
  activity.event(outer);
  activity.event(inner);
  CHECK(activity.text(made.track, 150) == "in aten::item, in cudaMemcpyAsync");
  CHECK(activity.text(made.track, 110) == "in aten::item");
  CHECK(activity.text(made.track, 120) == "in aten::item");
  CHECK(activity.text(made.track, 180) == "in aten::item");
  CHECK(activity.text(made.track, 50) == "outside of all operators");
}

TEST_CASE("diagnose: a function of Python says where the host was outside of operators") {
  MadeThread made;
  HostActivity activity(made.catalog);
  activity.event(made.range(Kind::python_function, "train.py(9): main", 0, 1000));
  CHECK(activity.text(made.track, 10) == "in train.py(9): main");
  activity.event(made.range(Kind::user_annotation, "forward", 100, 500));
  activity.event(made.range(Kind::python_function, "hooks.py(268): set_context", 110, 400));
  activity.event(made.range(Kind::cpu_op, "aten::add", 200, 210));
  CHECK(activity.text(made.track, 105) == "in forward");
  CHECK(activity.text(made.track, 150) == "in forward, in hooks.py(268): set_context");
  CHECK(activity.text(made.track, 205) == "in forward, in aten::add");
  CHECK(activity.text(made.track, 600) == "in train.py(9): main");
  CHECK(activity.text(made.track, 150, 100) == "in forward, in hooks.py(268): set_context");
  CHECK(activity.text(made.track, 300, 1000) == "in forward");  // of 1000 ns the function took 290
}

TEST_CASE("diagnose: long ranges are remembered, and what is forgotten is unknown") {
  MadeThread made;
  HostActivity activity(made.catalog);
  const Event first = made.range(Kind::cpu_op, "aten::first", 10, 20),
              whole = made.range(Kind::cpu_op, "aten::whole", 30, 10'000'000);
  activity.event(first);
  activity.event(whole);
  for (std::int64_t i = 0; i < 2 * static_cast<std::int64_t>(HostActivity::kMost); ++i)
    activity.event(made.range(Kind::cpu_op, "aten::add", 100 + 10 * i, 105 + 10 * i));
  const std::int64_t newest_ns = 100 + 20 * (static_cast<std::int64_t>(HostActivity::kMost) - 1);
  CHECK(activity.text(made.track, newest_ns + 2) == "in aten::whole, in aten::add");
  CHECK(activity.text(made.track, newest_ns + 7) == "in aten::whole");
  CHECK(activity.text(made.track, 15) == "host state unknown");
  CHECK(activity.text(made.track, 10'000'001) == "outside of all operators");
}

TEST_CASE("diagnose: ranges that never end are not looked at for each range after them") {
  MadeThread made;
  HostActivity activity(made.catalog);
  const std::int64_t many = 3 * static_cast<std::int64_t>(HostActivity::kMost);
  for (std::int64_t i = 0; i < many; ++i) {
    Event endless = made.range(Kind::nvtx, "never popped", 10 * i, 10 * i);
    endless.duration_ns = kUnknownDuration;
    activity.event(endless);
    activity.event(made.range(Kind::nvtx, "step", 10 * i + 1, 10 * i + 8));
    activity.event(made.range(Kind::cpu_op, "aten::add", 10 * i + 2, 10 * i + 4));
  }
  CHECK(activity.looked_at(made.track) <= 4 * static_cast<std::uint64_t>(many));
  CHECK(activity.text(made.track, 10 * many - 7) == "in never popped, in aten::add");
}

TEST_CASE("diagnose: how long a host loaded data") {
  MadeThread made;
  const Event first =
      made.range(Kind::user_annotation, "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 100, 200);
  const Event within = made.range(Kind::nvtx, "data_loading", 150, 250),
              other = made.range(Kind::cpu_op, "aten::add", 300, 400);
  HostActivity activity(made.catalog);
  for (const Event& event : {first, within, other}) activity.event(event);
  const auto loading_ns = [&](TrackId thread, std::int64_t from_ns, std::int64_t to_ns) {
    std::int64_t sum_ns = 0;
    activity.each_loading(thread, from_ns, to_ns,
                          [&](std::int64_t start_ns, std::int64_t end_ns) { sum_ns += end_ns - start_ns; });
    return sum_ns;
  };
  CHECK(loading_ns(made.track, 0, 1000) == 150);
  CHECK(loading_ns(made.track, 190, 230) == 40);
  CHECK(loading_ns(made.track, 250, 400) == 0);
  CHECK(loading_ns(made.track + 1, 0, 1000) == 0);
}

TEST_CASE("diagnose: names of ranges that load data") {
  for (const char* name : {"enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", "data_loading",
                           "Data Loading", "get_batch", "batch-generator", "load_data"}) {
    CAPTURE(name);
    CHECK(is_data_loading_name(name));
  }
  for (const char* name : {"aten::copy_", "batch_norm", "forward", "data", "loader", "## backward ##"}) {
    CAPTURE(name);
    CHECK_FALSE(is_data_loading_name(name));
  }
}
