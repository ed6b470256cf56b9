#include "reminders/drafts.h"

#include <algorithm>
#include <map>
#include <sstream>

#include "item/attribute_text.h"
#include "mail/text_rules.h"
#include "reminders/customer_commit.h"
#include "reminders/customer_records.h"
#include "reminders/listing.h"
#include "reminders/record/customer_item.h"
#include "reminders/record/draft_item.h"
#include "reminders/record/item_fields.h"
#include "reminders/reminder_store.h"
#include "reminders/standing.h"

namespace postino::reminders {

namespace {

constexpr int most_ids_tried = 1'000;  // others may take a free one first

OrRefusal<Draft> as_draft(const item::Item& item, const ReminderStore& store) {
  auto read = read_draft(item, store.tables().currency);
  if (!read) return base::propagate(refusal_of(read.error()));
  read->status = status_at(*read, store.clock().now());
  return *std::move(read);
}

template <class Entries, class Text>
std::string joined_texts(const Entries& entries, std::string_view between, const Text& text) {
  std::string joined;
  for (const auto& entry : entries) joined.append(joined.empty() ? "" : between).append(text(entry));
  return joined;
}

Variables known_variables(const Customer& customer, const Overdue& overdue, const std::string& type,
                          base::TimePoint now) {
  Variables known = {{"customer_id", customer.id},
                     {"customer_name", customer.name},
                     {"customer_email", customer.email},
                     {"reminder_type", type}};
  if (overdue.invoices.empty()) return known;
  const Invoice& oldest = overdue.invoices.front();
  known["invoice_id"] = oldest.id;
  known["invoice_ids"] = joined_texts(overdue.invoices, ", ", [](const Invoice& invoice) { return invoice.id; });
  known["overdue_amount"] = joined_texts(overdue.totals, " and ", [](const Money& money) { return money.text(); });
  known["due_date"] = oldest.due_date;
  known["days_overdue"] = std::to_string(days_overdue(oldest, now));
  return known;
}

OrRefusal<void> check_type(const Rules& rules, const std::string& type) {
  if (rules.find(type) != nullptr) return {};
  return refuse_field("reminder_type",
                      "must be one of " + joined_texts(rules.all(), ", ", [](const Rule& rule) { return rule.type; }));
}

OrRefusal<void> check_reason(const std::string& reason) {
  if (reason.empty()) return refuse_field("reason", "must not be empty");
  if (reason.size() > longest_reason)
    return refuse_field("reason", "must not be longer than " + std::to_string(longest_reason) + " bytes");
  if (!mail::is_utf8(reason)) return refuse_field("reason", "must be UTF-8 without NUL");
  return {};
}

tl::unexpected<Refusal> unknown_draft(const std::string& id) {
  return refuse(RefusalKind::unknown_draft, "there is no draft " + id);
}

// Of the current revision.
const std::string& author_of(const Draft& draft) { return draft.revised_at ? draft.revised_by : draft.created_by; }

std::string draft_subject(const std::string& id) { return "drafts/" + id; }

// Which drafts of many are made, by their places: a line for each, with the place and the id.
std::map<std::size_t, std::string> drafts_in(const std::string& progress) {
  std::map<std::size_t, std::string> made;
  std::istringstream lines(progress);
  std::size_t place = 0;
  for (std::string id; lines >> place && std::getline(lines >> std::ws, id);) made[place] = id;
  return made;
}

// The item as another program may have written it, with what we know of it. What else is in it stays.
item::Item overlaid(item::Item before, const item::Item& after) {
  before.erase("email_html");
  for (const item::Attribute& attribute : after) before.set(attribute.name, attribute.value);
  return before;
}

// It has not moved since it was read.
void check_guard(Commit& commit, const std::string& customer, const Guard& guard) {
  if (guard.version == 0) {
    commit.check(Keys::key(customer, guard_sort), "attribute_not_exists(PK)");
    return;
  }
  expr::Placeholders placeholders;
  placeholders.values = item::Map{{":seen", guard.version}};
  commit.check(Keys::key(customer, guard_sort), "version = :seen", std::move(placeholders));
}

// Is the customer erased, or being so? Texts that are written now would stay. The commit is written on what the guard
// was before this was asked, because an erasure begins by moving it.
OrRefusal<bool> check_erasure(ReminderStore& store, const Keys& keys, const std::string& customer_id,
                              const Actor& actor, Commit& commit) {
  const std::string customer = keys.customer(customer_id);
  TRY(const Guard guard, store.mended_guard(keys, customer_id, actor));
  check_guard(commit, customer, guard);
  TRY(const std::optional<item::Item> profile, store.get(customer, std::string(profile_sort)));
  if (profile) return false;
  TRY(const std::optional<item::Item> erased, store.get(customer, std::string(erased_sort)));
  return erased.has_value();
}

// Of a draft without a noted text: another program has put it, perhaps not for the first time.
OrRefusal<int> revision_of_foreign(ReminderStore& store, const Keys& keys, const Draft& draft) {
  const std::string partition = keys.customer(draft.customer_id);
  int revision = draft.revision;
  TRY(const std::optional<item::Item> noted, store.get(partition, revision_sort(draft.id, 0)));
  if (noted) {
    const int number = ItemFields(*noted).count("noted");
    const bool is_same = is_hash_of(item::attribute_text(*noted, "text_hash"), draft);
    revision = std::max(revision, is_same ? number : number + 1);
  }
  store::QueryRequest last;
  last.table_name = store.tables().tracking;
  last.key_condition = "PK = :pk AND begins_with(SK, :begin)";
  last.placeholders.values = item::Map{{":pk", partition}, {":begin", std::string(revision_begin) + draft.id + "#"}};
  last.consistent_read = true;
  last.forward = false;
  last.limit = 1;
  TRY(const ReminderStore::QueryPage page, store.query(std::move(last)));
  // An earlier text is kept when there is a next one.
  if (!page.items.empty())
    if (const int number = ItemFields(page.items.front()).count("revision"); number > 0)
      revision = std::max(revision, number + 2);
  return revision;
}

constexpr std::string_view other_program = "another program";

// Writes down which revision the text is. busy when the draft has changed meanwhile.
OrRefusal<void> note_revision(ReminderStore& store, const Keys& keys, StoredDraft& stored, int revision) {
  Commit commit = store.begin();
  const Actor other{.tenant = keys.tenant(), .name = std::string(other_program), .key = {}, .from = {}};
  TRY(const bool is_erased, check_erasure(store, keys, stored.draft.customer_id, other, commit));
  store::TransactUpdate update;
  update.table_name = store.tables().tracking;
  update.key = Keys::key(keys.customer(stored.draft.customer_id), std::string(draft_begin) + stored.draft.id);
  update.placeholders.names = expr::Names{{"#ttl", std::string(ttl_attribute)}};
  update.placeholders.values = item::Map{{":end", base::epoch_seconds(stored.draft.created_at + draft_life)},
                                         {":hash", hash_of(stored.draft)},
                                         {":revision", revision},
                                         {":version", stored.draft.version + 1}};
  std::string text =
      "SET #ttl = if_not_exists(#ttl, :end), text_hash = :hash, revision = :revision, version = :version";
  const bool is_other = revision != stored.draft.revision;
  if (is_other) {
    text += ", revised_by = :by, revised_at_ms = :now, updated_at_ms = :now REMOVE revised_key";
    update.placeholders.values->set(":by", other_program);
    update.placeholders.values->set(":now", base::epoch_milliseconds(commit.now()));
    commit.audit(other, "draft.revised", draft_subject(stored.draft.id), {{"revision", std::to_string(revision)}},
                 store.random());
  }
  update.update.emplace(std::move(text));
  update.condition.emplace(same_draft(stored, update.placeholders));
  commit.add(std::move(update));
  stored.draft.revision = revision;
  if (!is_erased) commit.put(noted_revision_item(keys, stored.draft));
  return store.write(std::move(commit));
}

}  // namespace

std::string same_draft(const StoredDraft& stored, expr::Placeholders& placeholders) {
  std::string condition = "attribute_exists(PK) AND attribute_not_exists(version)";
  // As it is: another program may have written any number.
  if (const item::AttributeValue* const version = stored.item.find("version")) {
    placeholders.values->set(":seen", *version);
    condition = "version = :seen";
  }
  int number = 0;
  for (const char* const name : {"status", "reminder_type", "email_subject", "email_content", "email_html",
                                 "customer_email", "customer_name", "email_from", "email_reply_to"}) {
    const std::string mark = "n" + std::to_string(number++);
    placeholders.names->emplace("#" + mark, name);
    const item::AttributeValue* const value = stored.item.find(name);
    if (value == nullptr) {
      condition.append(" AND attribute_not_exists(#").append(mark).append(")");
      continue;
    }
    condition.append(" AND #").append(mark).append(" = :").append(mark);
    placeholders.values->set(":" + mark, *value);
  }
  return condition;
}

OrRefusal<std::optional<StoredDraft>> read_stored_draft(ReminderStore& store, const Keys& keys, const std::string& id,
                                                        bool is_shown) {
  const auto parts = parse_draft_id(id);
  if (!parts) return std::nullopt;
  for (int round = 1;; ++round) {
    TRY(auto item, store.get(keys.customer(parts->customer_id), std::string(draft_begin) + id));
    if (!item) return std::nullopt;
    auto draft = read_draft(*item, store.tables().currency);
    if (!draft) return base::propagate(refusal_of(draft.error()));
    StoredDraft stored{*std::move(draft), *std::move(item)};
    // What is decided stays as it was decided.
    if (stored.draft.status != DraftStatus::draft || is_hash_of(stored.draft.text_hash, stored.draft)) return stored;
    int revision = stored.draft.revision + 1;
    if (stored.draft.text_hash.empty()) {
      TRY(revision, revision_of_foreign(store, keys, stored.draft));
      if (revision == stored.draft.revision && !is_shown) return stored;
    }
    const auto noted = note_revision(store, keys, stored, revision);
    if (!noted && (noted.error().kind != RefusalKind::busy || round == change_rounds))
      return base::propagate(noted.error());
  }
}

// What a draft is made of.
struct Drafts::Composed {
  Customer customer;
  Overdue overdue;
  Rendered rendered;
};

OrRefusal<Drafts::Composed> Drafts::compose(const NewDraft& given, const std::string& tenant) {
  TRY_VOID(check_type(store_.rules(), given.reminder_type));
  if (given.template_id.empty() == !given.text.has_value())
    return refuse_field("template_id", "or text must be given, and not both");
  if (given.text && !given.variables.empty()) return refuse_field("variables", "must be absent where text is given");
  if (given.text) TRY_VOID(refuse_faults(faults_of(*given.text, "text.")));
  Composed composed;
  TRY(composed.customer, customers_.find(given.customer_id, tenant));
  TRY(composed.overdue, customers_.overdue(given.customer_id, tenant));
  if (given.text) {
    composed.rendered.text = *given.text;
    return composed;
  }
  TRY(const TemplateVersion version, templates_.in_use(given.template_id, given.customer_id, tenant));
  if (!fits_type(version, given.reminder_type))
    return refuse_field("template_id",
                        "must be a template for " + given.reminder_type + " reminders, not for " + version.type);
  const Variables known =
      known_variables(composed.customer, composed.overdue, given.reminder_type, store_.clock().now());
  TRY(composed.rendered, templates_.render(version, known, given.variables, tenant));
  return composed;
}

OrRefusal<Rendered> Drafts::preview(const NewDraft& draft, const std::string& tenant) {
  TRY(Composed composed, compose(draft, tenant));
  return std::move(composed.rendered);
}

// Without its id and time.
OrRefusal<Draft> Drafts::draft_of(const NewDraft& given, const Actor& actor) {
  TRY(Composed composed, compose(given, actor.tenant));
  Draft draft;
  draft.customer_id = composed.customer.id;
  draft.customer_name = composed.customer.name;
  draft.customer_email = composed.customer.email;
  draft.reminder_type = given.reminder_type;
  draft.text = std::move(composed.rendered.text);
  draft.template_id = composed.rendered.template_id;
  draft.template_version = composed.rendered.template_version;
  draft.branding = composed.rendered.branding;
  draft.from = composed.rendered.from;
  draft.reply_to = composed.rendered.reply_to;
  draft.variables = given.variables;
  const Overdue& overdue = composed.overdue;
  for (const Money& total : overdue.totals) {
    if (total.currency == overdue.invoices.front().amount.currency) draft.overdue_amount = total;
    if (overdue.totals.size() > 1) draft.overdue_totals.push_back(total.text());
  }
  for (const Invoice& invoice : overdue.invoices) draft.overdue_invoices.push_back(invoice.id);
  draft.created_by = actor.known_as();
  draft.created_key = actor.key;
  draft.version = 1;
  return draft;
}

OrRefusal<ShownDraft> Drafts::make(const NewDraft& draft, const Actor& actor) {
  base::TimePoint earliest = store_.clock().now();
  return make_from(draft, actor, earliest);
}

OrRefusal<std::vector<OrRefusal<ShownDraft>>> Drafts::make_all(const std::vector<NewDraft>& drafts,
                                                               const Actor& actor) {
  if (drafts.empty() || drafts.size() > most_in_bulk)
    return refuse_field("drafts", "must have 1 to " + std::to_string(most_in_bulk) + " entries");
  // Of one customer, each gets the second after the one before it, so that none tries those again.
  std::map<std::string, base::TimePoint> earliest;
  std::vector<OrRefusal<ShownDraft>> answers;
  std::optional<Refusal> down;
  // Each is a commit of its own, which also writes down that it is made: a repeat of a request that was cut off makes
  // those that are left. The answer tells of all.
  std::string progress = actor.note_progress.last;
  const std::map<std::size_t, std::string> made = drafts_in(progress);
  for (std::size_t i = 0; i < drafts.size(); ++i) {
    if (down) {
      answers.push_back(base::propagate(*down));
      continue;
    }
    const NewDraft& draft = drafts[i];
    if (const auto known = made.find(i); known != made.end()) {
      answers.push_back(find(known->second, actor.tenant));
      continue;
    }
    base::TimePoint& of_customer = earliest[draft.customer_id];
    of_customer = std::max(of_customer, store_.clock().now());
    std::string further;
    Actor author = actor;
    author.note_answer = nullptr;
    if (actor.note_progress.action)
      author.note_answer = [&](const std::string& id) {
        further = progress + std::to_string(i) + " " + id + "\n";
        return actor.note_progress.action(further);
      };
    answers.push_back(make_from(draft, author, of_customer));
    if (answers.back()) {
      progress = std::move(further);
      continue;
    }
    // The store has failed: the rest would fail, too, only more slowly. Of the rest it is known that nothing was done.
    const Refusal& refusal = answers.back().error();
    if (refusal.kind == RefusalKind::unavailable || refusal.kind == RefusalKind::outcome_unknown)
      down = Refusal{.kind = RefusalKind::unavailable,
                     .message = "it was not tried, because the one before it failed: " + refusal.message};
  }
  return answers;
}

OrRefusal<ShownDraft> Drafts::make_from(const NewDraft& given, const Actor& actor, base::TimePoint& earliest) {
  if (given.created_by.size() > longest_record_id)
    return refuse_field("created_by", "must not be longer than " + std::to_string(longest_record_id) + " bytes");
  if (!given.created_by.empty() && mail::folded(given.created_by).empty())
    return refuse_field("created_by", "must not be blank");
  if (const auto line = mail::check_line(given.created_by); !line)
    return refuse_field("created_by", line.error().message);
  const Keys keys = store_.keys(actor.tenant);
  Actor author = actor;
  if (!given.created_by.empty()) author.name = given.created_by;
  std::optional<Draft> draft;
  std::int64_t seen = 0;
  for (int tries = 0, ids = 0; tries < change_rounds && ids < most_ids_tried;) {
    // A payment that withdraws the drafts of the customer must not miss this one, so it is written on what the guard
    // was before the invoices were read.
    TRY(const Guard guard, store_.mended_guard(keys, given.customer_id, author));
    if (!draft || guard.version != seen) {
      TRY(draft, draft_of(given, author));
    }
    seen = guard.version;
    draft->id = key_time(earliest) + "_" + draft->customer_id;
    Commit commit = store_.begin();
    draft->created_at = draft->updated_at = commit.now();
    // A customer who is being erased gets no draft any more.
    const std::string customer = keys.customer(draft->customer_id);
    const std::size_t profile = commit.check(Keys::key(customer, profile_sort), "attribute_exists(PK)");
    const std::size_t place = commit.put(draft_item(keys, *draft), "attribute_not_exists(PK)");
    commit.put(noted_revision_item(keys, *draft));
    check_guard(commit, customer, guard);
    commit.count(keys, "drafts_created", draft->id);
    commit.audit(author, "draft.created", draft_subject(draft->id),
                 {{"type", draft->reminder_type},
                  {"template", draft->template_id},
                  {"template_version", std::to_string(draft->template_version)},
                  {"created_by", draft->created_by}},
                 store_.random());
    if (author.note_answer) commit.add(author.note_answer(draft->id));
    std::vector<std::size_t> failed;
    const auto written = store_.write(std::move(commit), &failed);
    const auto has_failed = [&](std::size_t action) { return std::ranges::find(failed, action) != failed.end(); };
    if (written) {
      earliest += std::chrono::seconds(1);
      return show_written(keys, *std::move(draft));
    }
    if (has_failed(profile)) return refuse_unknown_customer(draft->customer_id);
    if (written.error().kind != RefusalKind::busy) return base::propagate(written.error());
    if (has_failed(place)) {
      TRY(earliest, store_.free_second(customer, draft_begin, draft->customer_id, earliest));
      ++ids;
    } else {
      ++tries;
    }
  }
  return refuse(RefusalKind::busy, "customer " + given.customer_id + " gets too many drafts at once; try again");
}

OrRefusal<StoredDraft> Drafts::read(const Keys& keys, const std::string& id) {
  TRY(auto stored, read_stored_draft(store_, keys, id, true));
  if (!stored) return unknown_draft(id);
  stored->draft.status = status_at(stored->draft, store_.clock().now());
  return *std::move(stored);
}

OrRefusal<ShownDraft> Drafts::show(const Keys& keys, Draft draft) {
  ShownDraft shown;
  const auto standing =
      read_standing(store_, customers_, mail_, keys, draft.customer_id, draft.customer_email, draft.overdue_invoices);
  if (standing) {
    shown.decision = store_.rules().decide(draft.reminder_type, standing->guard.last, store_.clock().now());
    shown.stopped = standing->stopped;
    if (draft.status == DraftStatus::draft) {
      // Of one that was decided on, the record of the reminder tells to whom it went.
      draft.customer_email = standing->address;
      if (standing->customer) draft.customer_name = standing->customer->name;
      const std::vector<FieldFault> faults = faults_of(draft, standing->address);
      if (shown.stopped.empty() && !faults.empty())
        shown.stopped = "it cannot be an e-mail: " + faults.front().field + " " + faults.front().rule;
    }
  } else {
    // People can look at the draft although a record that the decision rests on cannot be read.
    if (standing.error().kind != RefusalKind::corrupt) return base::propagate(standing.error());
    shown.stopped = standing.error().message;
  }
  if (!shown.stopped.empty()) shown.decision = stopped_decision(shown.stopped);
  shown.draft = std::move(draft);
  return shown;
}

ShownDraft Drafts::show_written(const Keys& keys, Draft draft) {
  ShownDraft written;
  written.draft = draft;
  auto shown = show(keys, std::move(draft));
  if (shown) return *std::move(shown);
  written.stopped = "it is not known now whether the customer may get it: " + shown.error().message;
  written.decision = stopped_decision(written.stopped);
  return written;
}

OrRefusal<ShownDraft> Drafts::find(const std::string& id, const std::string& tenant) {
  const Keys keys = store_.keys(tenant);
  TRY(StoredDraft found, read(keys, id));
  return show(keys, std::move(found.draft));
}

OrRefusal<Page<ShownDraft>> Drafts::list(const DraftFilter& filter, const PageRequest& page,
                                         const std::string& tenant) {
  using enum DraftStatus;
  const Keys keys = store_.keys(tenant);
  const base::TimePoint now = store_.clock().now();
  Listing listing;
  listing.name = std::string("drafts/") + (filter.status ? std::string(name_of(*filter.status)) : "") + "/" +
                 filter.customer_id + "/" + filter.reminder_type;
  listing.newest_first = true;
  if (filter.customer_id.empty()) {
    listing.in_index = true;
    for (const DraftStatus status : {draft, approved, rejected, withdrawn}) {
      const bool wanted = !filter.status || *filter.status == status || (*filter.status == expired && status == draft);
      if (wanted) std::ranges::copy(keys.all_of_status(name_of(status)), std::back_inserter(listing.partitions));
    }
    // What has expired need not be read again and again until it is deleted.
    if (filter.status == draft) listing.from = seed_time(now - draft_life - key_tolerance);
    if (filter.status == expired) listing.to = seed_time(now - draft_life + key_tolerance);
  } else {
    listing.partitions = {keys.customer(filter.customer_id)};
    listing.begin_with(std::string(draft_begin));
  }
  listing.shows = [&](const item::Item& item) {
    if (!item::attribute_text(item, "SK").starts_with(draft_begin)) return false;
    const auto read = as_draft(item, store_);
    if (!read) return true;
    return (!filter.status || read->status == *filter.status) &&
           (filter.reminder_type.empty() || read->reminder_type == filter.reminder_type);
  };
  TRY(const Page<item::Item> items, list_items(store_, listing, page));

  Page<ShownDraft> answer;
  answer.cursor = items.cursor;
  for (const item::Item& item : items.entries) {
    auto read = as_draft(item, store_);
    if (!read) {
      // What another program wrote wrong is told, and hides no other draft.
      ShownDraft broken;
      broken.draft.id = item::attribute_text(item, "SK").substr(draft_begin.size());
      broken.stopped = read.error().message;
      const auto parts = parse_draft_id(broken.draft.id);
      if (!parts) {
        leave_out(answer, "drafts", read.error().message);
        continue;
      }
      broken.draft.customer_id = parts->customer_id;
      broken.draft.created_at = broken.draft.updated_at = parse_key_time(parts->time).value_or(now);
      broken.decision = stopped_decision(broken.stopped);
      answer.entries.push_back(std::move(broken));
      continue;
    }
    if (read->status == draft && !is_hash_of(read->text_hash, *read)) {
      // It may have gone, or been decided on, since the index was read.
      TRY(auto stored, read_stored_draft(store_, keys, read->id, true));
      if (!stored) continue;
      *read = std::move(stored->draft);
      read->status = status_at(*read, now);
    }
    TRY(ShownDraft shown, show(keys, *std::move(read)));
    answer.entries.push_back(std::move(shown));
  }
  return answer;
}

OrRefusal<ShownDraft> Drafts::change(const std::string& id, int seen, const Actor& actor, const Change& change) {
  const Keys keys = store_.keys(actor.tenant);
  for (int round = 1;; ++round) {
    TRY(StoredDraft found, read(keys, id));
    Draft draft = found.draft;
    if (draft.status != DraftStatus::draft)
      return refuse(RefusalKind::wrong_state, "draft " + id + " is " + std::string(name_of(draft.status)));
    if (draft.revision != seen) {
      Refusal refusal{.kind = RefusalKind::other_revision,
                      .message = "draft " + id + " has revision " + std::to_string(draft.revision) + " now"};
      refusal.current_revision = draft.revision;
      return base::propagate(std::move(refusal));
    }
    Commit commit = store_.begin();
    TRY_VOID(change(draft, commit));
    if (commit.size() == 0) return show(keys, std::move(draft));
    TRY(const bool is_erased, check_erasure(store_, keys, draft.customer_id, actor, commit));
    if (draft.revision != found.draft.revision) {
      if (is_erased)
        return refuse(RefusalKind::stopped,
                      "the data of the customer " + draft.customer_id + " was erased, so that no text is written");
      commit.put(noted_revision_item(keys, draft));
    }
    draft.updated_at = commit.now();
    draft.version = found.draft.version + 1;
    expr::Placeholders placeholders{expr::Names{}, item::Map{}};
    std::string condition = same_draft(found, placeholders);
    commit.put(overlaid(std::move(found.item), draft_item(keys, draft)), std::move(condition), std::move(placeholders));
    if (actor.note_answer) commit.add(actor.note_answer(id));
    const auto written = store_.write(std::move(commit));
    if (written) return show_written(keys, std::move(draft));
    if (written.error().kind != RefusalKind::busy || round == change_rounds) return base::propagate(written.error());
  }
}

OrRefusal<ShownDraft> Drafts::revise(const std::string& id, int seen, const DraftText& text, const Actor& actor) {
  TRY_VOID(refuse_faults(faults_of(text, "text.")));
  return change(id, seen, actor, [&](Draft& draft, Commit& commit) -> OrRefusal<void> {
    if (draft.text == text) return {};
    if (draft.revision >= most_revisions)
      return refuse(RefusalKind::wrong_state,
                    "draft " + id + " has " + std::to_string(most_revisions) + " revisions, and there are no more");
    Revision before;
    before.draft_id = draft.id;
    before.number = draft.revision;
    before.text = draft.text;
    before.author = author_of(draft);
    before.at = draft.revised_at.value_or(draft.created_at);
    commit.put(revision_item(store_.keys(actor.tenant), draft.customer_id, draft.created_at, before),
               "attribute_not_exists(PK)");
    draft.text = text;
    ++draft.revision;
    draft.revised_by = actor.known_as();
    draft.revised_key = actor.key;
    draft.revised_at = commit.now();
    commit.audit(actor, "draft.revised", draft_subject(id), {{"revision", std::to_string(draft.revision)}},
                 store_.random());
    return {};
  });
}

OrRefusal<ShownDraft> Drafts::reject(const std::string& id, int seen, const std::string& reason, const Actor& actor) {
  TRY_VOID(check_reason(reason));
  return change(id, seen, actor, [&](Draft& draft, Commit& commit) -> OrRefusal<void> {
    if (!actor.is_known()) return refuse_field("rejected_by", "is required");
    draft.status = DraftStatus::rejected;
    draft.reason = reason;
    draft.decided_by = actor.known_as();
    draft.decided_at = commit.now();
    commit.count(store_.keys(actor.tenant), "rejected", draft.id);
    commit.audit(actor, "draft.rejected", draft_subject(id), {{"revision", std::to_string(draft.revision)}},
                 store_.random());
    return {};
  });
}

OrRefusal<std::vector<Revision>> Drafts::revisions(const std::string& id, const std::string& tenant) {
  const Keys keys = store_.keys(tenant);
  TRY(const StoredDraft found, read(keys, id));
  const Draft& draft = found.draft;
  const std::string begin = std::string(revision_begin) + id + "#";
  TRY(const auto items, store_.get_all(keys.customer(draft.customer_id), begin, most_revisions + 1));
  std::vector<Revision> revisions;
  for (const item::Item& item : items) {
    auto revision = read_revision(item);
    if (!revision) return base::propagate(refusal_of(revision.error()));
    // One that was made since the draft was read belongs to a later answer. Number 0 is no text.
    if (revision->number > 0 && revision->number < draft.revision) revisions.push_back(*std::move(revision));
  }
  revisions.push_back(
      {draft.id, draft.revision, draft.text, author_of(draft), draft.revised_at.value_or(draft.created_at)});
  return revisions;
}

OrRefusal<RevisionDiff> Drafts::diff(const std::string& id, std::optional<int> from, std::optional<int> to,
                                     const std::string& tenant) {
  TRY(const std::vector<Revision> all, revisions(id, tenant));
  RevisionDiff diff;
  diff.to = to.value_or(all.back().number);
  diff.from = from.value_or(diff.to);
  if (!from)
    for (const Revision& each : all)
      if (each.number < diff.to) diff.from = each.number;
  const auto text_of_revision = [&](int number) {
    const auto found = std::ranges::find(all, number, &Revision::number);
    return found == all.end() ? nullptr : &found->text;
  };
  const DraftText* const before = text_of_revision(diff.from);
  const DraftText* const after = text_of_revision(diff.to);
  const std::string rule =
      "must be a revision of the draft whose text is kept: " +
      joined_texts(all, ", ", [](const Revision& revision) { return std::to_string(revision.number); });
  if (from && before == nullptr) return refuse_field("from", rule);
  if (before == nullptr || after == nullptr) return refuse_field("to", rule);
  diff.subject = diff_lines(before->subject, after->subject);
  diff.body = diff_lines(before->body, after->body);
  diff.html = diff_lines(before->html, after->html);
  return diff;
}

OrRefusal<Drafts::Explanation> Drafts::explain(const std::string& customer_id, const std::string& type,
                                               const std::string& tenant) {
  TRY_VOID(check_type(store_.rules(), type));
  const Keys keys = store_.keys(tenant);
  Explanation explanation;
  explanation.customer_id = customer_id;
  explanation.reminder_type = type;
  const auto standing = read_standing(store_, customers_, mail_, keys, customer_id, "", {});
  if (!standing) {
    // People are told which record cannot be read: until it can be, nothing is approved.
    if (standing.error().kind != RefusalKind::corrupt) return base::propagate(standing.error());
    explanation.stopped = standing.error().message;
    explanation.decision = stopped_decision(explanation.stopped);
    return explanation;
  }
  if (standing->customer) {
    TRY(explanation.overdue, customers_.overdue(customer_id, tenant));
  } else if (standing->guard.last.empty()) {
    // Also one that has failed tells of the customer.
    TRY(const std::optional<item::Item> newest, newest_reminder(store_, keys, customer_id));
    if (!newest) return refuse_unknown_customer(customer_id);
  }
  explanation.decision = store_.rules().decide(type, standing->guard.last, store_.clock().now());
  explanation.stopped = standing->stopped;
  if (!explanation.stopped.empty()) explanation.decision = stopped_decision(explanation.stopped);
  return explanation;
}

}  // namespace postino::reminders
