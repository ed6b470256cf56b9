// Programs that a benchmark runs: silent, and gone when the benchmark is.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace postino::bench {

// "127.0.0.1:25"
inline std::string loopback_address(std::uint16_t port) { return "127.0.0.1:" + std::to_string(port); }

// What the program prints goes to `output`, a descriptor, when one is given. Both are to be called on the main thread,
// whose end is the child's.
pid_t start_program(const std::vector<std::string>& command, std::optional<int> output = std::nullopt);
// Runs a function instead; call it before this process has threads.
pid_t start_function(const std::function<void()>& function);

// Waits for the end. True when it ended by itself and well.
bool await_end(pid_t process);
// SIGTERM, and waits.
void end(pid_t process);
bool is_running(pid_t process);

// Of all its threads, and of its children, those that have ended included.
double cpu_seconds(pid_t process);

}  // namespace postino::bench
