// Parts of a commit that change a customer: its record, and its pending drafts.
#pragma once

#include <string>
#include <vector>

#include "reminders/recalls.h"
#include "reminders/record/customer.h"
#include "reminders/record/objection.h"
#include "reminders/reminder_store.h"

namespace postino::reminders {

// How often something is decided again because others have changed the same customer meanwhile.
inline constexpr int change_rounds = 30;

// The customer had this version. Only attributes that differ are written: approvals count beside it.
void add_change(Commit& commit, const Keys& keys, const Customer& before, const Customer& after);
// Words of others, as they are kept.
std::string kept_words(const std::string& words);
// An e-mail to this address has come back for good. False when the customer has another one by now: nothing is changed.
// An empty one is the customer's.
bool take_bounce(Customer& customer, const std::string& words, const std::string& address);
// What the customer says against reminders from now on, if that is something else.
void add_objection(Commit& commit, const Keys& keys, const std::string& customer_id, const Objection& before,
                   const Objection& after);
// The record of a customer; corrupt when it cannot be read, or is that of another one.
OrRefusal<Customer> read_profile(const item::Item& item, const std::string& customer_id);
// The customer, as opting out, paying and all else that changes one must find it: when another program has damaged the
// record, or taken an objection out of it, it is made again of what can be read of it, and the audit notes it. nullopt:
// there is none.
OrRefusal<std::optional<Customer>> mended_customer(ReminderStore& store, const Keys& keys,
                                                   const std::string& customer_id, const Actor& actor);
// Nothing is written unless the customer is there.
void add_presence(Commit& commit, const Keys& keys, const std::string& customer_id);

// Ids of drafts that wait for approval and are concerned, at most `most`. Consistent.
OrRefusal<std::vector<std::string>> pending_drafts(ReminderStore& store, const Keys& keys,
                                                   const std::string& customer_id, std::size_t most,
                                                   const ReminderChoice& is_concerned);
// As many as one commit can have beside what else it has.
inline constexpr std::size_t most_withdrawn_at_once = 40;
void add_withdrawals(Commit& commit, const Keys& keys, const std::string& customer_id,
                     const std::vector<std::string>& draft_ids, const std::string& reason, const Actor& actor,
                     base::Random& random);
// Those that are left: more than one commit can have, or made while the others were withdrawn.
OrRefusal<void> withdraw_rest(ReminderStore& store, const Keys& keys, const std::string& customer_id,
                              const std::string& reason, const Actor& actor, const ReminderChoice& is_concerned);

}  // namespace postino::reminders
