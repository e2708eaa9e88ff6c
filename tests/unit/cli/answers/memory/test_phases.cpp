// The peak of each phase of a step, and what checkpointing a module would free, of histories made by hand.
#include <catch2/catch.hpp>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "cli/answers/memory/checkpointing.h"
#include "cli/answers/memory/phases.h"
#include "cli/answers/memory/replay.h"
#include "cli/answers/memory/subjects.h"

using cli::StackFrame;
using cli::StackId;
using cli::memory::LiveBlock;
using cli::memory::Part;
using cli::snapshot::Action;

namespace {

// A history of device 0. Each allocation has an address of its own.
class MadeHistory {
 public:
  MadeHistory() { snapshot.histories.emplace_back(); }

  struct Place {
    std::string_view function, file;
    std::int32_t line;
  };
  // Returns a stack of Python functions, outermost first.
  StackId stack(const std::vector<Place>& places) {
    StackId outer;
    for (const Place& place : places) {
      StackFrame frame;
      frame.outer = outer;
      frame.name = snapshot.catalog.strings.intern(place.function);
      frame.file = snapshot.catalog.strings.intern(place.file);
      frame.line = place.line;
      frame.what = StackFrame::kPython;
      outer = snapshot.catalog.stacks.intern(frame);
    }
    return outer;
  }
  std::uint64_t alloc(std::uint64_t bytes, StackId stack) {
    add(Action::alloc, ++last_, bytes, stack);
    live_[last_] = bytes;
    return last_;
  }
  void release(std::uint64_t address) {
    add(Action::free_completed, address, live_.at(address), {});
    live_.erase(address);
  }
  void fail(StackId stack) { add(Action::oom, 0, 1 << 20, stack); }
  // The snapshot has no segments, so nothing is in use at its end.
  void release_all() {
    while (!live_.empty()) release(live_.begin()->first);
  }
  // The blocks stay in use.
  void keep_all() {
    cli::snapshot::Segment segment;
    segment.blocks = live_.size();
    for (const auto& [address, bytes] : live_) {
      snapshot.blocks.push_back({address, bytes, bytes, cli::snapshot::BlockState::active, {}});
    }
    snapshot.segments.push_back(segment);
  }
  std::size_t states() const { return snapshot.histories[0].size(); }
  std::vector<LiveBlock> in_use(std::size_t state) const { return cli::memory::blocks_in_use(snapshot, 0, state); }

  cli::snapshot::Snapshot snapshot;

 private:
  void add(Action action, std::uint64_t address, std::uint64_t bytes, StackId stack) {
    cli::snapshot::Entry entry;
    entry.action = action;
    entry.address = address;
    entry.bytes = bytes;
    entry.stack = stack;
    snapshot.histories[0].add(entry);
  }

  std::map<std::uint64_t, std::uint64_t> live_;  // bytes by address
  std::uint64_t last_ = 0;
};

}  // namespace

TEST_CASE("memory phases: a phase lasts until another one allocates memory") {
  MadeHistory made;
  const StackId forward = made.stack({{"main", "train.py", 1}, {"forward", "model.py", 10}});
  const StackId backward = made.stack({{"main", "train.py", 2}, {"backward", "torch/_tensor.py", 20}});
  const StackId loss = made.stack({{"main", "train.py", 3}});
  const auto data = made.alloc(100, loss);   // state 1; no phase yet
  made.alloc(10, forward);                   // 2
  const auto logits = made.alloc(50, loss);  // 3: of the forward pass, which lasts
  made.release(data);                        // 4
  made.release(logits);                      // 5
  made.alloc(5, backward);                   // 6
  made.alloc(1, forward);                    // 7
  made.release_all();
  const auto peaks = cli::memory::phase_peaks(made.snapshot, 0);
  REQUIRE(peaks.size() == 3);
  CHECK((peaks[0].part == Part::forward && peaks[0].bytes == 160 && peaks[0].state == 3 && peaks[0].occurrences == 2));
  CHECK((peaks[1].part == Part::backward && peaks[1].bytes == 15 && peaks[1].state == 6 && peaks[1].occurrences == 1));
  CHECK((peaks[2].part == Part::unknown && peaks[2].bytes == 100 && peaks[2].state == 1));
}

TEST_CASE("memory phases: a history with one known phase does not show when it ends") {
  MadeHistory made;
  CHECK(cli::memory::phase_peaks(made.snapshot, 0).empty());
  made.alloc(10, made.stack({{"forward", "model.py", 10}}));
  made.alloc(20, made.stack({{"main", "train.py", 1}}));
  made.release_all();
  CHECK(cli::memory::phase_peaks(made.snapshot, 0).empty());
}

TEST_CASE("checkpointing frees the activations of all calls of a module but one") {
  MadeHistory made;
  const MadeHistory::Place model{"forward", "model.py", 90}, block{"forward", "model.py", 50};
  const StackId attention = made.stack({model, block, {"forward", "model.py", 10}});
  const StackId other_line = made.stack({model, block, {"forward", "model.py", 14}});
  const StackId helper = made.stack({model, block, {"forward", "model.py", 10}, {"scale", "model.py", 20}});
  const StackId norm = made.stack({model, block, {"forward", "model.py", 30}});  // scale() is between both
  const StackId residual = made.stack({model, {"forward", "model.py", 52}});
  const StackId embedding = made.stack({{"forward", "model.py", 95}});
  made.alloc(1000, embedding);
  for (int layer = 0; layer < 4; ++layer) {
    made.alloc(100, attention);
    if (layer == 0) made.alloc(4, other_line);  // once only
    made.alloc(10, helper);
    made.alloc(30, norm);
    made.alloc(8, residual);
  }
  const std::size_t peak = made.states();
  made.alloc(1, made.stack({{"backward", "torch/_tensor.py", 20}}));
  made.release_all();
  const auto found = cli::memory::checkpointing(made.snapshot, 0, made.in_use(peak));
  REQUIRE(found.size() == 4);
  const auto is = [&](std::size_t i, std::string_view module, std::uint64_t bytes, std::uint64_t calls,
                      std::uint64_t freed) {
    INFO(found[i].module << ' ' << found[i].bytes << ' ' << found[i].calls << ' ' << found[i].freed_bytes);
    CHECK((found[i].module == module && found[i].bytes == bytes && found[i].calls == calls));
    CHECK(found[i].freed_bytes == freed);
  };
  is(0, "model.py(50-52): forward", 4 * 148 + 4, 4, 3 * 149);
  is(1, "model.py(10-14): forward", 4 * 110 + 4, 4, 3 * 111);
  is(2, "model.py(30): forward", 120, 4, 90);
  is(3, "model.py(90-95): forward", 1000 + 4 * 148 + 4, 1, 0);
}

TEST_CASE("checkpointing: the calls of a module without activations of its own are unknown") {
  MadeHistory made;
  const StackId inner = made.stack({{"forward", "model.py", 90}, {"forward", "layers.py", 10}});
  made.alloc(100, inner);
  made.alloc(100, inner);
  made.alloc(1, made.stack({{"backward", "torch/_tensor.py", 20}}));
  made.release_all();
  const auto found = cli::memory::checkpointing(made.snapshot, 0, made.in_use(2));
  REQUIRE(found.size() == 2);
  CHECK((found[0].calls == 2 && found[0].freed_bytes == 100));
  CHECK((found[1].module == "model.py(90): forward" && found[1].bytes == 200 && found[1].calls == 0));
  CHECK(cli::memory::checkpointing(made.snapshot, 0, {}).empty());
}

TEST_CASE("checkpointing: what a failed forward pass holds counts as activations") {
  for (const bool fails : {true, false}) {
    MadeHistory made;
    const StackId forward = made.stack({{"forward", "model.py", 90}});
    made.alloc(100, forward);
    made.alloc(100, forward);
    if (fails) made.fail(forward);
    made.keep_all();
    const auto found = cli::memory::checkpointing(made.snapshot, 0, made.in_use(2));
    REQUIRE(found.size() == (fails ? 1 : 0));
    if (fails) CHECK((found[0].bytes == 200 && found[0].calls == 2 && found[0].freed_bytes == 100));
  }
}

TEST_CASE("memory: a qualified name of a recording counts like the plain one of a snapshot") {
  CHECK(cli::memory::plain_name("Model.forward") == "forward");
  CHECK(cli::memory::plain_name("build.<locals>.Model.forward") == "forward");
  CHECK(cli::memory::plain_name("forward") == "forward");
  cli::Catalog catalog;
  StackFrame frame;
  frame.what = StackFrame::kPython;
  frame.file = catalog.strings.intern("/home/user/model.py");
  frame.name = catalog.strings.intern("Model.forward");
  CHECK(cli::memory::is_module_frame(catalog, frame));
  frame.name = catalog.strings.intern("Model.forward_once");
  CHECK(!cli::memory::is_module_frame(catalog, frame));
}
