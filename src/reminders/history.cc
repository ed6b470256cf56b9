#include "reminders/history.h"

#include "base/timestamp.h"
#include "reminders/listing.h"
#include "reminders/record/sent_item.h"
#include "reminders/reminder_store.h"

namespace postino::reminders {

namespace {

std::string moment_text(const std::optional<base::TimePoint>& time) {
  return time ? base::format_timestamp(*time) : std::string();
}

Listing sent_listing(const std::string& name, const HistoryRequest& request, const std::string& currency) {
  Listing listing;
  listing.name =
      name + "/" + request.reminder_type + "/" + moment_text(request.since) + "/" + moment_text(request.until);
  listing.newest_first = true;
  listing.shows = [request, currency](const item::Item& item) {
    const auto sent = read_sent(item, currency);
    // It is left out later, and told.
    if (!sent) return true;
    return (request.reminder_type.empty() || sent->reminder_type == request.reminder_type) &&
           (!request.since || sent->sent_at >= *request.since) && (!request.until || sent->sent_at < *request.until);
  };
  return listing;
}

// The range of keys is wider than that of times. What is of another time is left out by `shows`.
std::optional<base::TimePoint> first_key(const HistoryRequest& request) {
  return request.since ? std::optional(*request.since - key_tolerance) : std::nullopt;
}
std::optional<base::TimePoint> last_key(const HistoryRequest& request) {
  if (!request.until || *request.until > last_key_time - key_tolerance) return std::nullopt;
  return *request.until + key_tolerance;
}

OrRefusal<Page<SentReminder>> sent_page(ReminderStore& store, const Listing& listing, const PageRequest& page) {
  TRY(const Page<item::Item> items, list_items(store, listing, page));
  return readable_page<SentReminder>(items, "reminders",
                                     [&](const item::Item& item) { return read_sent(item, store.tables().currency); });
}

}  // namespace

OrRefusal<Page<SentReminder>> History::of_customer(const std::string& customer_id, const HistoryRequest& request,
                                                   const std::string& tenant) {
  Listing listing = sent_listing("history/" + customer_id, request, store_.tables().currency);
  listing.partitions = {store_.keys(tenant).customer(customer_id)};
  listing.begin_with(std::string(sent_begin));
  if (const auto first = first_key(request)) listing.from = std::string(sent_begin) + key_time(*first);
  if (const auto last = last_key(request)) listing.to = std::string(sent_begin) + key_time(*last) + "~";
  return sent_page(store_, listing, request.page);
}

OrRefusal<Page<SentReminder>> History::sent(const HistoryRequest& request, bool failed, const std::string& tenant) {
  const std::string status = failed ? "failed" : "sent";
  Listing listing = sent_listing("reminders/" + status, request, store_.tables().currency);
  listing.partitions = store_.keys(tenant).all_of_status(status);
  listing.in_index = true;
  if (const auto first = first_key(request)) listing.from = seed_time(*first);
  if (const auto last = last_key(request)) listing.to = seed_time(*last);
  const auto shows = listing.shows;
  // Drafts and other items of this status are no reminders.
  listing.shows = [shows](const item::Item& item) {
    const item::AttributeValue* const sort = item.find("SK");
    return sort != nullptr && sort->as<std::string>().starts_with(sent_begin) && shows(item);
  };
  return sent_page(store_, listing, request.page);
}

OrRefusal<SentReminder> History::find(const std::string& customer_id, const std::string& id,
                                      const std::string& tenant) {
  TRY(const std::optional<item::Item> item,
      store_.get(store_.keys(tenant).customer(customer_id), std::string(sent_begin) + id));
  if (!item)
    return refuse(RefusalKind::unknown_reminder, "there is no reminder " + id + " of the customer " + customer_id);
  auto sent = read_sent(*item, store_.tables().currency);
  if (!sent) return base::propagate(refusal_of(sent.error()));
  return *std::move(sent);
}

}  // namespace postino::reminders
