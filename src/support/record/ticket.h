// A ticket: what a customer of ours has trouble with, and how far we are.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "item/value.h"
#include "support/record/ticket_status.h"

namespace postino::support {

// Characters, unless it says otherwise.
struct TicketLimits {
  static constexpr std::size_t id_bytes = 200;
  static constexpr std::size_t name = 200;
  static constexpr std::size_t short_text = 200;  // product, model, serial, firmware, error code, tier
  static constexpr std::size_t least_symptom = 10;
  static constexpr std::size_t symptom = 5'000;
  static constexpr std::size_t reason = 2'000;
  static constexpr std::size_t comments = 5'000;
  static constexpr std::size_t event_type_bytes = 64;
  static constexpr std::size_t details_bytes = 64'000;  // of an event
  static constexpr std::size_t cached_bytes = 350'000;  // of a result that is kept
  static constexpr std::size_t key_bytes = 400;         // of an idempotency key
  static constexpr std::size_t lang_bytes = 35;         // the longest tag of RFC 5646 that one meets
  static constexpr std::size_t subject = 500;
  static constexpr std::size_t email_bytes = 200'000;  // of a text; more of a received one is cut off
  static constexpr std::size_t message_id_bytes = 250;
  static constexpr std::size_t many = 100;  // tickets at once
  static constexpr int least_rating = 1;
  static constexpr int most_rating = 5;
  // The highest version, and the highest number of an event. Other programs may write any number: none is added to
  // until it is damaged.
  static constexpr std::int64_t most_counted = 1'000'000'000'000'000;
};

struct TicketCustomer {
  std::string id;
  std::string name;
  std::string contact_email;
  std::string account_tier;

  friend bool operator==(const TicketCustomer&, const TicketCustomer&) = default;
};

struct Asset {
  std::string product_type;
  std::string model;
  std::string serial;
  std::string firmware;

  friend bool operator==(const Asset&, const Asset&) = default;
};

// Only while the ticket is escalated.
struct Escalation {
  base::TimePoint at;
  std::string engineer;  // empty when another program did not say
  std::string reason;

  friend bool operator==(const Escalation&, const Escalation&) = default;
};

inline constexpr std::string_view usual_priority = "P3";

struct Ticket {
  std::string id;  // "tkt_<uuid>"
  TicketCustomer customer;
  Asset asset;
  std::string symptom_text;
  std::string error_code;
  std::string priority = std::string(usual_priority);  // P1 to P4
  std::string lang;
  TicketStatus status = TicketStatus::fresh;
  std::string status_reason;  // of the last move
  base::TimePoint created_at;
  std::string created_text;  // as it is written: keys are made of it
  std::optional<base::TimePoint> updated_at = {};
  std::optional<base::TimePoint> completed_at = {};
  std::optional<Escalation> escalation = {};
  std::int64_t version = 0;
  // As it is stored: what other programs have added stays.
  item::Map data = {};
  // Attributes of its item that are in the object store and cannot be read; "*" when it is not known which. What they
  // say is missing above.
  std::vector<std::string> unavailable = {};
};

// What is to become of a ticket.
struct Move {
  TicketStatus to = TicketStatus::processing;
  std::string reason = {};
  std::string engineer = {};  // when it is escalated
};

// The ticket afterwards. conflict when there is no such move. Nothing else edits a status.
base::Result<Ticket> moved(Ticket ticket, const Move& move, base::TimePoint now);

}  // namespace postino::support
