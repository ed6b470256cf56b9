// Runs another program and takes what it prints.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"

namespace postino::remote {

struct ProgramLimits {
  std::chrono::milliseconds time{30'000};
  std::size_t output_bytes = 64 << 10;
};

class ProgramRunner {
 public:
  virtual ~ProgramRunner() = default;

  // Runs the program that the first word names, by its path or found in PATH, with the others as its arguments: no
  // shell reads them. Returns its standard output; what it complains of is dropped, because it may contain secrets. io
  // when it cannot be started or ends otherwise than with 0; exhausted when it exceeds a limit: then it is killed, with
  // those that it has started. Safe to call from any thread.
  virtual base::Result<std::string> run(const std::vector<std::string>& words, const ProgramLimits& limits) = 0;
};

// The programs of this machine. They get the environment of this process, but for the settings of Postino.
std::unique_ptr<ProgramRunner> machine_programs();

}  // namespace postino::remote
