// One grace for the whole end of the server, and who has how much of it.
#pragma once

#include <chrono>

namespace postino::app {

struct ShutdownPlan {
  using Instant = std::chrono::steady_clock::time_point;

  constexpr ShutdownPlan(Instant began, std::chrono::milliseconds grace)
      : break_off_brokers_at(began + grace / 2), leave_at(began + grace * 3 / 4), give_up_at(began + grace) {}

  // Calls to brokers that last longer are broken off, so that their callers get an answer.
  Instant break_off_brokers_at;
  // Requests and sessions with mail servers and receivers of callbacks that last longer are broken off. The rest of the
  // grace is for writing down what is known.
  Instant leave_at;
  // From then on no thread waits for a database.
  Instant give_up_at;
};

}  // namespace postino::app
