#include "cli/answers/memory/checkpointing.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "cli/answers/memory/subjects.h"

namespace cli::memory {
namespace {

using Line = std::pair<StringId, std::int32_t>;  // file and line

// Finds the functions named forward, from the lines that are executed in them.
class ModuleFunctions {
 public:
  explicit ModuleFunctions(const Catalog& catalog) : catalog_(catalog) {
    add_lines();
    join_lines();
  }

  // Returns the first line of the module function that a frame is in. Returns nullopt for other frames.
  std::optional<Line> module_of(const StackFrame& frame) const {
    if (!is_module_frame(catalog_, frame)) return {};
    const Line line = line_of(frame);
    return Line(line.first, functions_.at(line).first_line);
  }

  // Returns a function as "user/model.py(30-41): forward", with the first and the last of its lines.
  std::string name(const Line& first) const {
    const std::string_view file = short_path(catalog_.strings[first.first]);
    const std::int32_t last = functions_.at(first).last_line;
    return last == first.second ? fmt::format("{}({}): forward", file, last)
                                : fmt::format("{}({}-{}): forward", file, first.second, last);
  }

 private:
  struct Function {
    bool is_module = false;
    std::set<Line> callers;       // lines of modules that call the module on this line; Line() if none does
    std::int32_t first_line = 0;  // of the function
    std::int32_t last_line = 0;   // set for the first line
  };

  void add_lines() {
    std::vector<Line> calling(catalog_.stacks.size());  // by StackId; line of the innermost module
    for (std::size_t id = 1; id < calling.size(); ++id) {
      const StackFrame& frame = catalog_.stacks.all()[id];
      calling[id] = calling[frame.outer];  // callers have lower ids
      // Functions without a name, such as <lambda>, are parts of the function around them.
      if (frame.what != StackFrame::kPython || catalog_.strings[frame.name].starts_with('<')) continue;
      Function& function = functions_[line_of(frame)];
      if (!is_module_frame(catalog_, frame)) continue;
      function.is_module = true;
      function.callers.insert(calling[id]);
      calling[id] = line_of(frame);
    }
  }

  void join_lines() {
    const Line* before = nullptr;
    for (auto& [line, function] : functions_) {
      const bool continues = before != nullptr && before->first == line.first && are_one(functions_[*before], function);
      function.first_line = continues ? functions_[*before].first_line : line.second;
      functions_[{line.first, function.first_line}].last_line = line.second;
      before = &line;
    }
  }

  static Line line_of(const StackFrame& frame) { return {frame.file, frame.line}; }

  // Returns true if two lines without a known line between them are in one function. They have a caller in common.
  static bool are_one(const Function& a, const Function& b) {
    return a.is_module && b.is_module &&
           std::any_of(a.callers.begin(), a.callers.end(), [&](const Line& line) { return b.callers.contains(line); });
  }

  const Catalog& catalog_;
  std::map<Line, Function> functions_;
};

// Returns the frames of a stack from the innermost one to `last`, without what called them, as a stack in `stacks`.
StackId frames_to(const Catalog& catalog, StackId stack, StackId last, Interned<StackFrame>& stacks) {
  std::vector<StackId> frames;
  for (; stack != last; stack = catalog.stacks[stack].outer) frames.push_back(stack);
  frames.push_back(last);
  StackId outer;
  for (auto id = frames.rbegin(); id != frames.rend(); ++id) {
    StackFrame frame = catalog.stacks[*id];
    frame.outer = outer;
    outer = stacks.intern(frame);
  }
  return outer;
}

}  // namespace

std::vector<ModuleActivations> checkpointing(const snapshot::Snapshot& snapshot, std::int64_t device,
                                             const std::vector<LiveBlock>& blocks) {
  Parts parts(snapshot, device);
  ModuleFunctions functions(snapshot.catalog);
  std::vector<const LiveBlock*> activations;
  for (const LiveBlock& block : blocks) {
    if (parts.may_be_activation(block)) activations.push_back(&block);
  }
  struct OfModule {
    ModuleActivations sums;
    std::map<StackId, std::uint64_t> own_blocks;  // by the frames within the module
  };
  std::map<Line, OfModule> modules;  // by first_line
  Interned<StackFrame> inner_stacks;
  for (const LiveBlock* const block : activations) {
    std::set<Line> counted;  // a module can call itself
    for (StackId frame = block->stack; frame != 0; frame = snapshot.catalog.stacks[frame].outer) {
      const std::optional<Line> function = functions.module_of(snapshot.catalog.stacks[frame]);
      if (!function || !counted.insert(*function).second) continue;
      OfModule& module = modules[*function];
      module.sums.bytes += block->bytes;
      ++module.sums.blocks;
      if (counted.size() == 1) ++module.own_blocks[frames_to(snapshot.catalog, block->stack, frame, inner_stacks)];
    }
  }
  std::vector<ModuleActivations> found;
  for (auto& [function, module] : modules) {
    ModuleActivations& sums = module.sums;
    sums.module = functions.name(function);
    std::vector<std::uint64_t> counts;
    for (const auto& [inner, count] : module.own_blocks) counts.push_back(count);
    if (!counts.empty()) {
      const auto median = counts.begin() + static_cast<std::ptrdiff_t>((counts.size() - 1) / 2);
      std::nth_element(counts.begin(), median, counts.end());
      sums.calls = *median;
      sums.freed_bytes = sums.bytes - sums.bytes / sums.calls;
    }
    found.push_back(std::move(sums));
  }
  std::sort(found.begin(), found.end(), [](const ModuleActivations& a, const ModuleActivations& b) {
    return std::tie(b.freed_bytes, b.bytes, a.module) < std::tie(a.freed_bytes, a.bytes, b.module);
  });
  return found;
}

}  // namespace cli::memory
