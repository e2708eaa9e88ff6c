// Identity of the host and the process, as text for the file's header, from /proc and the environment.
#pragma once
#include <time.h>

#include <cstddef>
#include <cstdint>

namespace agent {

std::uint64_t clock_ns(clockid_t clock) noexcept;

// Reads at most size - 1 bytes of a small file. Returns the length, 0 on failure. The text is always terminated.
std::size_t read_small_file(const char* path, char* text, std::size_t size) noexcept;

void host_name(char* text, std::size_t size) noexcept;
void boot_id(char* text, std::size_t size) noexcept;  // "" if unknown
// Writes argv[0] and the script's name, no other argument. One thread at a time, because its buffer is not on the
// stack.
void program_name(char* text, std::size_t size) noexcept;
std::uint64_t process_start_ticks(int pid) noexcept;  // field 22 of /proc/PID/stat; 0 if unknown
// Returns true if one of the nearest ancestors for which `counts` returns true started with the same value of this
// variable.
bool shares_with_ancestor(const char* name, bool (*counts)(int pid)) noexcept;
// Writes the run's directory name: the launcher's run id and restart count, otherwise the batch job and step, otherwise
// a start time.
void run_id(char* text, std::size_t size) noexcept;
// Reads an environment variable as a number. Returns false if it is unset or no integer.
bool env_number(const char* name, std::int32_t& value) noexcept;

}  // namespace agent
