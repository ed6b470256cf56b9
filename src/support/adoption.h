// Completes what other programs write: tickets without the keys of the indexes or with old ones, escalations, feedback.
//
// They know the former system's items alone. A reader of a ticket by its id sees their changes at once; lists see
// them when they are completed, which the change stream of the table makes a matter of moments. Nothing is written
// unless the item is still as it was read, so that several processes may do this at once; with a lease one does it at a
// time. At the first start, and after a time away that the stream does not reach back to, all tickets are looked at.
#pragma once

#include <optional>
#include <string>

#include "store/noted_feed.h"
#include "support/ticket_store.h"
#include "support/ticket_writer.h"

namespace postino::support {

class Adoption {
 public:
  // `lease` may be nullptr. All must outlive it.
  Adoption(TicketStore& store, TicketWriter& writer, store::Lease* lease = nullptr);

  // Looks at so many changes at most, or at so many tickets; waits for the first change up to `timeout`. How many items
  // were written. For one thread at a time.
  OrRefusal<int> run_once(int limit, base::Milliseconds timeout);
  // Wakes a waiting run_once(), which then answers at once from now on. From any thread.
  void close() { changes_.close(); }
  // The last call: another process may go on at once.
  void leave() { changes_.leave(); }

  // Completes one ticket, if it lacks something. True when something was written.
  OrRefusal<bool> look_at_ticket(const Keys& keys, const std::string& ticket_id);

 private:
  OrRefusal<int> look_through(int limit);
  OrRefusal<int> look_at(const store::StreamRecord& record);
  OrRefusal<bool> look_at_feedback(const Keys& keys, const std::string& ticket_id, const item::Item& seen);
  // The ticket is gone: so is what leads to it.
  OrRefusal<bool> clean_up(const Keys& keys, const std::string& ticket_id);
  OrRefusal<void> note_position(bool is_idle);

  TicketStore& store_;
  TicketWriter& writer_;
  store::ItemNote note_;
  store::NotedFeed changes_;
  bool is_looking_through_ = false;
  std::optional<item::Key> looked_up_to_;
  int seen_since_note_ = 0;  // changes of anything but the note
};

}  // namespace postino::support
