// Places at workers that are free, for e-mails that are claimed for them by the commit that makes the work.
#pragma once

#include <optional>
#include <vector>

#include "outbox/email/email.h"
#include "outbox/work/destinations.h"

namespace postino::outbox {

// A place that is kept. adopt() or release() must follow.
struct WorkerPlace {
  DestinationNames destinations;  // of the e-mail that it is kept for
};

// Safe to call from any thread.
class WorkerPlaces {
 public:
  virtual ~WorkerPlaces() = default;

  // Keeps a place for this e-mail, if there is one.
  virtual std::optional<WorkerPlace> reserve(const Email& email) = 0;
  // Takes e-mails for which places were kept, as if it had claimed them itself.
  struct Arrival {
    Email email;
    WorkerPlace place;
  };
  virtual void adopt(std::vector<Arrival> arrivals) = 0;
  // No worker comes for these.
  virtual void release(const std::vector<WorkerPlace>& places) = 0;
};

}  // namespace postino::outbox
