// Matches forms ahead of the reader of a plain file. Other threads also read its blocks, match them with a copy of the
// forms, and store the matches by offset. The text itself is not passed on, because copying it between cores takes as
// long as matching it. The state of the copy and the progress of the threads affect how much is found, never its
// meaning.
#pragma once
#include <array>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "cli/formats/kineto/form_tree.h"

namespace cli {

struct ReadingThreads {
  std::size_t count = 1;  // including the reader
  std::size_t block_bytes = 256 << 10;
};

class FormsAhead {
 public:
  FormsAhead() = default;
  ~FormsAhead();
  FormsAhead(const FormsAhead&) = delete;
  FormsAhead& operator=(const FormsAhead&) = delete;

  // Sets the file, which has to stay open until this is destroyed. Threads start after the reader has read some blocks.
  void begin(int file, ReadingThreads threads) { file_ = file; wanted_ = threads; }

  // Returns the match that other threads found at `offset`, which only increases. Passes `known` to them from time to
  // time.
  struct Match {
    std::size_t size = 0;  // 0 if nothing was found, or not searched yet
    std::uint32_t form = 0;
    const std::int64_t* numbers = nullptr;  // valid until the next call
  };
  Match at(std::uint64_t offset, const FormTree& known);

 private:
  struct Element {
    std::uint64_t offset;
    std::uint32_t size, form, numbers;  // index of the first number
  };
  struct Block {
    enum class State : unsigned char { empty, begun, done };
    std::uint64_t number = 0;
    State state = State::empty;
    std::vector<Element> elements;  // those that begin in it, by offset
    std::vector<std::int64_t> numbers;
  };
  using Lock = std::unique_lock<std::mutex>;
  static constexpr std::size_t kMostAhead = 16;  // blocks

  void enter_block(std::uint64_t number);
  void show(const FormTree& known);
  void start_threads();
  void loop();
  Block* take_block();
  bool look(Block& block, std::vector<char>& text, const FormTree& forms) const;

  int file_ = -1;  // -1 if the reader is the only thread
  ReadingThreads wanted_;
  std::uint64_t until_ = 0;  // end of the reader's current block
  const Block* found_ = nullptr;  // that block; null if it was not searched
  std::size_t next_element_ = 0;
  std::size_t shown_bytes_ = 0;
  std::uint64_t shown_at_ = 0;

  std::mutex mutex_;  // protects the following members
  std::condition_variable changed_;
  std::shared_ptr<const FormTree> shown_;
  std::array<Block, kMostAhead> blocks_;  // by number modulo their count
  std::uint64_t current_ = 0, next_block_ = 0;  // of the reader, of the other threads
  bool stop_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace cli
