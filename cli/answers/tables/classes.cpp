// classes: GPU time by classes of kernels (name_rules.h).
//
//   communication and memory are the same as in all tables (work_classes.h); other work is classified by its name.
//   sum    total duration within the chosen time; for a step, of the work that it launched
//   union  time in which any work of the class ran on the device; added up over devices and ranks
#include <map>
#include <set>

#include "cli/answers/tables/cells.h"
#include "cli/answers/tables/named_classes.h"

namespace cli {
namespace {

std::vector<Column> class_columns(RowKeys keys) {
  return joined(keys.by == GroupBy::none ? std::vector<Column>() : device_columns(keys),
                {{"class", Unit::text,
                  "Class of the kernel: matmul, attention, communication, ...; other if no rule matches its name"},
                 {"names", Unit::count, "Number of different kernel and copy names"},
                 {"count", Unit::count, "Number of kernels, copies and memsets"},
                 {"sum_ns", Unit::ns, "Total duration, including work that ran at the same time"},
                 {"share_pct", Unit::percent,
                  "Share of the total duration of all classes on the same device and in the same step"},
                 {"union_ns", Unit::ns, "Time with any work of the class on a device, summed over devices"}});
}

class Classes : public Analysis {
 public:
  explicit Classes(const AnalysisContext& context)
      : Analysis(context), classes_(context.catalog.strings, context.class_rules) {}

  void work(const GpuWork& work) override {
    const NamedClasses::Id id = classes_.of(work);
    if (work.kind == Kind::graph) ++graphs_;
    const auto& windows = context_.windows.of(work.process);
    each_share(context_.windows, work, [&](std::size_t i, std::int64_t start_ns, std::int64_t end_ns) {
      // Separate for each device, and for each step if rows are steps.
      const Key key{work.process, work.device, windows[i].step ? i : 0};
      if (newest_ == nullptr || newest_->first != key) newest_ = &*sums_.try_emplace(key).first;
      std::vector<Sums>& sums = newest_->second;
      if (sums.size() <= id) sums.resize(id + std::size_t{1});
      sums[id].add(start_ns, end_ns);
      const LastSeen now{by(GroupBy::none) ? nullptr : newest_, id};
      if (last_seen_.size() <= work.name)
        last_seen_.resize(std::max(context_.catalog.strings.size(), work.name + std::size_t{1}),
                          {nullptr, NamedClasses::kNone});
      if (std::exchange(last_seen_[work.name], now) != now) seen_.insert({row_of(key), id, work.name});
    });
  }

  void finish(ResultTable& table) override {
    std::map<Key, std::vector<Sums>> rows;
    for (const auto& [key, sums] : sums_) {
      std::vector<Sums>& row = rows[row_of(key)];
      if (row.size() < sums.size()) row.resize(sums.size());
      for (std::size_t id = 0; id < sums.size(); ++id) {
        row[id].count += sums[id].count;
        row[id].sum_ns += sums[id].sum_ns;
        row[id].union_ns += sums[id].union_ns;
      }
    }
    for (const auto& [key, sums] : rows) add_rows(key, sums, table.rows);
    if (graphs_ > 0)
      table.notes.push_back("CUDA graphs recorded as a whole, without their kernels, are in class other");
  }

 private:
  struct Key {
    ProcessId process = 0;
    std::int64_t device = 0;
    std::size_t window = 0;  // of the process, if windows are steps
    auto operator<=>(const Key&) const = default;
  };
  struct Seen {
    Key key;
    NamedClasses::Id id;
    StringId name;
    auto operator<=>(const Seen&) const = default;
  };
  struct Sums {
    std::int64_t count = 0, sum_ns = 0, union_ns = 0;
    std::int64_t end_ns = std::numeric_limits<std::int64_t>::min();  // end of the union so far

    // Called in order of start_ns.
    void add(std::int64_t start, std::int64_t end) {
      ++count;
      sum_ns += end - start;
      union_ns += std::max<std::int64_t>(0, end - std::max(start, end_ns));
      end_ns = std::max(end_ns, end);
    }
  };

  using OfKey = std::pair<const Key, std::vector<Sums>>;
  struct LastSeen {
    const OfKey* row;  // null if all rows are one
    NamedClasses::Id id;
    bool operator==(const LastSeen&) const = default;
  };

  Key row_of(const Key& key) const { return by(GroupBy::none) ? Key{} : key; }

  void add_rows(const Key& key, const std::vector<Sums>& sums, std::vector<std::vector<Cell>>& rows) const {
    std::int64_t whole_ns = 0;
    std::vector<NamedClasses::Id> order;
    for (NamedClasses::Id id = 0; id < sums.size(); ++id) {
      whole_ns += sums[id].sum_ns;
      if (sums[id].count > 0) order.push_back(id);
    }
    std::sort(order.begin(), order.end(), [&](auto a, auto b) {
      return sums[a].sum_ns != sums[b].sum_ns ? sums[a].sum_ns > sums[b].sum_ns : classes_[a] < classes_[b];
    });
    for (const NamedClasses::Id id : order) {
      std::vector<Cell>& cells = rows.emplace_back();
      if (!by(GroupBy::none))
        cells = device_cells(key.process, key.device, context_.windows.of(key.process)[key.window].step);
      append(cells, classes_[id], names(key, id), sums[id].count, sums[id].sum_ns, percent(sums[id].sum_ns, whole_ns),
             sums[id].union_ns);
    }
  }

  std::int64_t names(const Key& key, NamedClasses::Id id) const {
    const auto from = seen_.lower_bound({key, id, 0}),
               to = seen_.upper_bound({key, id, std::numeric_limits<StringId>::max()});
    return std::distance(from, to);
  }

  NamedClasses classes_;
  std::map<Key, std::vector<Sums>> sums_;  // by class
  OfKey* newest_ = nullptr;                // the entry used for the previous work
  std::vector<LastSeen> last_seen_;        // by name: avoids repeated lookups in seen_
  std::set<Seen> seen_;
  std::uint64_t graphs_ = 0;
};

}  // namespace

AnalysisEntry classes_analysis() {
  return analysis_entry<Classes, class_columns>(
      {.name = "classes",
       .meaning = "GPU time by class of kernel: matmul, attention, communication, elementwise, ...",
       .by = {GroupBy::none, GroupBy::rank, GroupBy::step}});
}

}  // namespace cli
