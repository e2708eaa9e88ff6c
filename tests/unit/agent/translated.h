// CUPTI's records made by hand, and what the agent makes of them, in a ring in ordinary memory.
#pragma once
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "agent/base/agent_settings.h"
#include "agent/cupti/cupti_library.h"
#include "agent/ring/recorder.h"
#include "agent/translate/translate.h"
#include "tests/unit/catch.h"
#include "tests/unit/common/small_ring.h"

// A buffer of CUPTI's. All of these share one ring, as the translations of a process do: the interner keeps its places.
class Translated {
 public:
  explicit Translated(const char* events = "all", std::uint32_t cupti_version = 130'001) {
    static trace::SmallRing memory(8, 64 << 10, 256 << 10);
    agent::ring() = memory.ring;
    setenv("TRACETOOL_EVENTS", events, 1);
    agent::read_settings();
    unsetenv("TRACETOOL_EVENTS");
    library().version = cupti_version;
    first_ticket_ = header().claimed_blocks;
    region_before_ = header().definitions_used;
    odd_before_ = header().invalid_timestamps;
    unknown_before_ = header().unknown_activities;
  }

  static agent::CuptiLibrary& library() { return const_cast<agent::CuptiLibrary&>(agent::cupti()); }
  static trace::FileHeader& header() { return *agent::ring().header; }

  // One activity in a place of its own, with garbage behind it, as another record would be.
  template <typename Activity>
  void add(const Activity& activity) {
    add(&activity, sizeof(activity));
  }
  void add(const void* activity, std::size_t bytes) {
    std::vector<std::uint64_t> place(bytes / 8 + 32, 0xeeeeeeeeeeeeeeeeu);
    std::memcpy(place.data(), activity, bytes);
    REQUIRE(translation_->begin());
    translation_->record(reinterpret_cast<const CUpti_Activity*>(place.data()));
    translation_->end();
  }

  template <typename Record>
  std::vector<Record> in_blocks() const {
    std::vector<Record> found;
    for (trace::BlockHeader* block : blocks()) collect(found, trace::payload_of(block), block->committed);
    return found;
  }
  template <typename Record>
  std::vector<Record> in_region() const {
    std::vector<Record> found;
    collect(found, agent::ring().definitions() + region_before_, header().definitions_used - region_before_);
    return found;
  }
  // The only one, in the blocks.
  template <typename Record>
  Record one() const {
    const auto found = in_blocks<Record>();
    REQUIRE(found.size() == 1);
    return found[0];
  }

  // Names of kernels (Record is KernelRecord or KernelWideRecord), in the order of in_blocks(): shape and name lie in the
  // region or in the kernel's own block.
  template <typename Record>
  std::vector<std::string> names_in_blocks() const {
    std::vector<std::string> names;
    for (trace::BlockHeader* block : blocks()) {
      std::vector<Record> kernels;
      collect(kernels, trace::payload_of(block), block->committed);
      for (const Record& kernel : kernels) names.push_back(name_of(trace::payload_of(block), kernel.shape_ref));
    }
    return names;
  }

  // Of eager kernels, in the same order.
  std::vector<trace::LaunchShapeRecord> kernel_shapes() const {
    std::vector<trace::LaunchShapeRecord> shapes;
    for (trace::BlockHeader* block : blocks()) {
      std::vector<trace::KernelRecord> kernels;
      collect(kernels, trace::payload_of(block), block->committed);
      for (const trace::KernelRecord& kernel : kernels) {
        std::memcpy(&shapes.emplace_back(), place(trace::payload_of(block), kernel.shape_ref),
                    sizeof(trace::LaunchShapeRecord));
      }
    }
    return shapes;
  }

  std::uint64_t invalid_timestamps() const { return header().invalid_timestamps - odd_before_; }
  std::uint64_t unknown() const { return header().unknown_activities - unknown_before_; }

 private:
  // By ticket, those that were written since this was made.
  std::vector<trace::BlockHeader*> blocks() const {
    std::map<std::uint64_t, trace::BlockHeader*> by_ticket;
    for (std::uint64_t i = 0; i < header().block_count; ++i)
      by_ticket[agent::ring().block(i)->ticket] = agent::ring().block(i);
    std::vector<trace::BlockHeader*> found;
    for (const auto& [ticket, block] : by_ticket) {
      if (ticket > first_ticket_) found.push_back(block);
    }
    return found;
  }

  static const std::byte* place(const std::byte* payload, std::uint32_t ref) {
    return (trace::is_local(ref) ? payload : agent::ring().definitions()) + trace::ref_offset(ref);
  }
  static std::string name_of(const std::byte* payload, std::uint32_t shape_ref) {
    trace::LaunchShapeRecord shape;
    std::memcpy(&shape, place(payload, shape_ref), sizeof(shape));
    trace::StringRecord text;
    const std::byte* at = place(payload, shape.name_ref);
    std::memcpy(&text, at, sizeof(text));
    return {reinterpret_cast<const char*>(at + sizeof(text)), text.length};
  }

  template <typename Record>
  static void collect(std::vector<Record>& found, const std::byte* bytes, std::size_t size) {
    std::size_t step;
    for (std::size_t at = 0; (step = trace::record_size(bytes + at, size - at)) != 0; at += step) {
      if (static_cast<std::uint8_t>(bytes[at]) != static_cast<std::uint8_t>(Record::kKind)) continue;
      std::memcpy(&found.emplace_back(), bytes + at, sizeof(Record));
    }
  }

  std::unique_ptr<agent::Translation> translation_ = std::make_unique<agent::Translation>();
  std::uint64_t first_ticket_, region_before_, odd_before_, unknown_before_;
};
