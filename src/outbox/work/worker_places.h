// Places at workers that are free, for e-mails that are claimed for them by the commit that makes the work.
#pragma once

#include <vector>

#include "outbox/email/email.h"

namespace postino::outbox {

// Safe to call from any thread.
class WorkerPlaces {
 public:
  virtual ~WorkerPlaces() = default;

  // Keeps a place for one more e-mail, if there is one; adopt() must follow.
  virtual bool reserve() = 0;
  // Takes e-mails for which `reserved` places were kept, as if it had claimed them itself. There may be fewer.
  virtual void adopt(std::vector<Email> emails, int reserved) = 0;
};

}  // namespace postino::outbox
