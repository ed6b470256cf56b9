// How much memory requests and e-mails may take, in the whole process.
#pragma once

#include <memory>

#include "base/memory_budget.h"

namespace postino::app {

struct MemoryLimits {
  // Answers of all servers that clients have not taken yet.
  std::shared_ptr<base::MemoryBudget> answers = std::make_shared<base::MemoryBudget>(256 << 20);
  // Reading large requests of all servers.
  std::shared_ptr<base::MemoryBudget> reading = std::make_shared<base::MemoryBudget>(512 << 20);
  // E-mails that are being accepted, built and sent, with their attachments.
  std::shared_ptr<base::MemoryBudget> messages = std::make_shared<base::MemoryBudget>(512 << 20);
};

}  // namespace postino::app
