// Where and who this process is, as text for the file's header: plain reads of /proc and the environment.
#pragma once
#include <cstddef>
#include <cstdint>

namespace agent {

// Reads at most size - 1 bytes of a small file; returns the length, 0 on failure. Always terminated.
std::size_t read_small_file(const char* path, char* text, std::size_t size) noexcept;

void host_name(char* text, std::size_t size) noexcept;
void boot_id(char* text, std::size_t size) noexcept;       // "" when unknown
// argv[0] and the script's name, no other argument. For one thread at a time: its room is not on the stack.
void program_name(char* text, std::size_t size) noexcept;
std::uint64_t process_start_ticks(int pid) noexcept;       // field 22 of /proc/PID/stat; 0 when unknown
// Whether one of the few nearest ancestors for which `counts` holds began with this variable, of the value that it has here.
bool shares_with_ancestor(const char* name, bool (*counts)(int pid)) noexcept;
// The run's directory name: the launcher's run id and restart count, else the batch job and step, else a start time.
void run_id(char* text, std::size_t size) noexcept;
// An environment variable as a number; false when unset or not a whole number.
bool env_number(const char* name, std::int32_t& value) noexcept;

}  // namespace agent
