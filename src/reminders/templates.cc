#include "reminders/templates.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include "item/attribute_text.h"
#include "reminders/customers.h"
#include "reminders/listing.h"
#include "reminders/record/customer.h"
#include "reminders/record/template_item.h"
#include "reminders/reminder_store.h"
#include "store/list_cursor.h"

namespace postino::reminders {

namespace {

constexpr int most_versions = 10'000;
constexpr int template_rounds = 5;              // others may change the same template
constexpr std::size_t most_made_inactive = 50;  // in one commit

template <class T>
OrRefusal<T> readable(base::Result<T> read) {
  if (!read) return base::propagate(refusal_of(read.error()));
  return *std::move(read);
}

tl::unexpected<Refusal> unknown_template(const std::string& id) {
  return refuse(RefusalKind::unknown_template, "there is no template " + id);
}

tl::unexpected<Refusal> unknown_version(const std::string& id, int version) {
  Refusal refusal{.kind = RefusalKind::unknown_template,
                  .message = "there is no version " + std::to_string(version) + " of template " + id};
  refusal.faults.push_back({"version", "must be a version of the template"});
  return tl::unexpected<Refusal>(std::move(refusal));
}

// Records have whole seconds, and so has the answer to who makes one.
base::TimePoint whole_second(base::TimePoint time) { return std::chrono::floor<std::chrono::seconds>(time); }

// Others may have added or activated a version meanwhile.
std::size_t put_numbers(Commit& commit, const Keys& keys, const std::string& id, TemplateNumbers next) {
  const std::int64_t seen = next.changes;
  ++next.changes;
  if (seen == 0) return commit.put(numbers_item(keys, id, next), "attribute_not_exists(PK)");
  expr::Placeholders placeholders;
  placeholders.values = item::Map{{":seen", seen}};
  return commit.put(numbers_item(keys, id, next), "changes = :seen", std::move(placeholders));
}

// Only the status: what another program keeps in the item stays.
void set_status(Commit& commit, const Keys& keys, const std::string& id, int version, TemplateStatus status) {
  store::TransactUpdate update;
  update.table_name = commit.tables().tracking;
  update.key = Keys::key(keys.of_template(id), version_sort(version));
  update.update = "SET #status = :status, GSI1PK = :partition";
  update.condition = "attribute_exists(PK)";
  update.placeholders.names = expr::Names{{"#status", "status"}};
  update.placeholders.values =
      item::Map{{":status", name_of(status)}, {":partition", version_partition(keys, id, version, status)}};
  commit.add(std::move(update));
}

// A template for reminders that no rule knows would never be used.
OrRefusal<void> check_type(const TemplateVersion& version, const Rules& rules) {
  std::string types;
  for (const Rule& rule : rules.all()) {
    if (fits_type(version, rule.type)) return {};
    types.append(types.empty() ? "" : ", ").append(rule.type);
  }
  return refuse_field("type", "must be one of " + types + ", perhaps with _reminder at its end");
}

// Another program's may be broken: it is better refused when it is activated than with every draft.
OrRefusal<void> check_texts(const TemplateVersion& version) {
  for (const std::string& text : {version.subject, version.body, version.html})
    if (const auto parsed = TemplateText::parse(text); !parsed)
      return refuse(RefusalKind::wrong_state, "version " + std::to_string(version.version) + " of template " +
                                                  version.template_id + " cannot be used: its text " +
                                                  parsed.error().message);
  return {};
}

bool is_active(const item::Item& version) {
  return item::attribute_text(version, "status") == name_of(TemplateStatus::active);
}

std::string template_subject(const std::string& id) { return "templates/" + id; }

}  // namespace

// What there is of a template.
struct Templates::KnownVersions {
  TemplateNumbers numbers;
  std::vector<int> others_active;  // another program may have left several: the last one counts
  std::vector<int> known;          // all versions, the newest first; empty when the numbers alone were enough
};

OrRefusal<std::optional<TemplateVersion>> Templates::get_version(const Keys& keys, const std::string& template_id,
                                                                 int version) {
  TRY(const std::optional<item::Item> item, store_.get(keys.of_template(template_id), version_sort(version)));
  if (!item) return std::nullopt;
  TRY(TemplateVersion read, readable(read_template(*item)));
  return read;
}

OrRefusal<TemplateNumbers> Templates::stored_numbers(const Keys& keys, const std::string& template_id) {
  TRY(const std::optional<item::Item> item, store_.get(keys.of_template(template_id), std::string(current_sort)));
  if (!item) return TemplateNumbers();
  return readable(read_numbers(*item));
}

OrRefusal<Templates::KnownVersions> Templates::look(const Keys& keys, const std::string& template_id) {
  TRY(const TemplateNumbers numbers, stored_numbers(keys, template_id));
  if (numbers.changes == 0) return look_at_versions(keys, template_id);
  // Another program knows nothing of these numbers. It may have taken the active version out of use, or added one.
  // What it wrote wrong into a version is told when that one is to be used.
  const std::string partition = keys.of_template(template_id);
  TRY(const auto active, store_.get(partition, version_sort(numbers.active)));
  TRY(const auto later, store_.get(partition, version_sort(numbers.latest + 1)));
  if (active && is_active(*active) && !later) return KnownVersions{numbers, {}, {}};
  return look_at_versions(keys, template_id);
}

OrRefusal<Templates::KnownVersions> Templates::look_at_versions(const Keys& keys, const std::string& template_id) {
  store::QueryRequest request;
  request.table_name = store_.tables().tracking;
  request.key_condition = "PK = :template AND begins_with(SK, :version)";
  request.projection = "SK, #status";
  request.placeholders.names = expr::Names{{"#status", "status"}};
  request.placeholders.values = item::Map{{":template", keys.of_template(template_id)}, {":version", version_begin}};
  request.consistent_read = true;
  KnownVersions versions;
  TRY(const TemplateNumbers stored, stored_numbers(keys, template_id));
  versions.numbers.changes = stored.changes;
  do {
    TRY(ReminderStore::QueryPage page, store_.query(request));
    for (const item::Item& item : page.items) {
      const auto number = version_of_sort(item::attribute_text(item, "SK"));
      if (!number) continue;
      versions.known.push_back(*number);
      if (is_active(item)) versions.others_active.push_back(*number);
    }
    request.exclusive_start_key = std::move(page.next);
  } while (request.exclusive_start_key);
  std::ranges::sort(versions.known, std::greater<>());
  std::ranges::sort(versions.others_active, std::greater<>());
  if (!versions.known.empty()) versions.numbers.latest = versions.known.front();
  if (!versions.others_active.empty()) {
    versions.numbers.active = versions.others_active.front();
    versions.others_active.erase(versions.others_active.begin());
  }
  return versions;
}

OrRefusal<void> Templates::check_new(const Keys& keys, const TemplateVersion& version) {
  TRY_VOID(refuse_faults(faults_of(version)));
  TRY_VOID(check_type(version, store_.rules()));
  if (version.branding.empty()) return {};
  TRY(const auto item, store_.get(keys.branding(version.branding), std::string(current_sort)));
  if (!item) return refuse_field("branding", "must be the name of a branding that exists");
  TRY(const Branding branding, readable(read_branding(*item)));
  if (branding.company.empty() && needs_company(version))
    return refuse_field("branding", "must have a company, because the template has {{company_name}}");
  return {};
}

OrRefusal<TemplateVersion> Templates::add_version(const TemplateVersion& version, const Actor& actor) {
  TemplateVersion added = version;
  added.customer_id.clear();
  const Keys keys = store_.keys(actor.tenant);
  TRY_VOID(check_new(keys, added));
  for (int round = 1;; ++round) {
    TRY(KnownVersions versions, look(keys, added.template_id));
    if (versions.numbers.latest >= most_versions)
      return refuse(RefusalKind::wrong_state, "template " + added.template_id + " has " +
                                                  std::to_string(most_versions) + " versions, and there are no more");
    const bool is_first = versions.numbers.latest == 0;
    Commit commit = store_.begin();
    added.version = ++versions.numbers.latest;
    added.status = is_first ? TemplateStatus::active : TemplateStatus::inactive;
    if (is_first) versions.numbers.active = added.version;
    added.created_by = actor.known_as();
    added.created_at = whole_second(commit.now());
    commit.put(template_item(keys, added), "attribute_not_exists(PK)");
    put_numbers(commit, keys, added.template_id, versions.numbers);
    commit.audit(actor, "template.added", template_subject(added.template_id),
                 {{"version", std::to_string(added.version)}}, store_.random());
    if (actor.note_answer) commit.add(actor.note_answer(std::to_string(added.version)));
    const auto written = store_.write(std::move(commit));
    if (written) return added;
    if (written.error().kind != RefusalKind::busy || round == template_rounds) return base::propagate(written.error());
  }
}

OrRefusal<TemplateVersion> Templates::activate(const std::string& template_id, int version, const Actor& actor) {
  const Keys keys = store_.keys(actor.tenant);
  for (int round = 1;; ++round) {
    // Another program may have left others active.
    TRY(KnownVersions versions, look_at_versions(keys, template_id));
    if (versions.numbers.latest == 0) return unknown_template(template_id);
    TRY(auto found, get_version(keys, template_id, version));
    if (!found) return unknown_version(template_id, version);
    TRY_VOID(check_texts(*found));
    found->status = TemplateStatus::active;
    std::vector<int> leaving = versions.others_active;
    if (versions.numbers.active != 0) leaving.push_back(versions.numbers.active);
    std::erase(leaving, version);
    if (versions.numbers.active == version && leaving.empty()) return *found;

    if (leaving.size() > most_made_inactive) leaving.resize(most_made_inactive);
    Commit commit = store_.begin();
    set_status(commit, keys, template_id, version, TemplateStatus::active);
    for (const int other : leaving) set_status(commit, keys, template_id, other, TemplateStatus::inactive);
    const int before = versions.numbers.active;
    versions.numbers.active = version;
    put_numbers(commit, keys, template_id, versions.numbers);
    commit.audit(actor, "template.activated", template_subject(template_id),
                 {{"version", std::to_string(version)}, {"before", std::to_string(before)}}, store_.random());
    const auto written = store_.write(std::move(commit));
    if (written) return *found;
    if (written.error().kind != RefusalKind::busy || round == template_rounds) return base::propagate(written.error());
  }
}

OrRefusal<TemplateVersion> Templates::find(const std::string& template_id, std::optional<int> version,
                                           const std::string& tenant) {
  const Keys keys = store_.keys(tenant);
  TRY(const KnownVersions versions, look(keys, template_id));
  if (versions.numbers.latest == 0) return unknown_template(template_id);
  if (!version && versions.numbers.active == 0)
    return refuse(RefusalKind::wrong_state, "template " + template_id + " has no active version");
  const int number = version.value_or(versions.numbers.active);
  TRY(auto found, get_version(keys, template_id, number));
  if (!found) return unknown_version(template_id, number);
  found->status = number == versions.numbers.active ? TemplateStatus::active : TemplateStatus::inactive;
  return *std::move(found);
}

OrRefusal<Page<TemplateVersion>> Templates::versions(const std::string& template_id, const PageRequest& page,
                                                     const std::string& tenant) {
  TRY_VOID(check_limit(page.limit));
  const std::string list = "versions/" + tenant + "/" + template_id;
  int before = std::numeric_limits<int>::max();
  if (!page.cursor.empty()) {
    TRY(const std::string position, read_list_cursor(list, page.cursor));
    std::from_chars(position.data(), position.data() + position.size(), before);
  }
  const Keys keys = store_.keys(tenant);
  TRY(const KnownVersions versions, look_at_versions(keys, template_id));
  if (versions.known.empty()) return unknown_template(template_id);
  Page<TemplateVersion> answer;
  for (const int number : versions.known) {
    if (number >= before) continue;
    if (answer.entries.size() == static_cast<std::size_t>(page.limit)) {
      answer.cursor = store::make_cursor(list, std::to_string(answer.entries.back().version));
      break;
    }
    auto found = get_version(keys, template_id, number);
    if (!found && found.error().kind != RefusalKind::corrupt) return base::propagate(std::move(found).error());
    if (!found) leave_out(answer, "versions", found.error().message);
    if (!found || !*found) continue;
    (*found)->status = number == versions.numbers.active ? TemplateStatus::active : TemplateStatus::inactive;
    answer.entries.push_back(**std::move(found));
  }
  return answer;
}

OrRefusal<Page<TemplateSummary>> Templates::list(const PageRequest& page, const std::string& tenant) {
  const Keys keys = store_.keys(tenant);
  Listing listing;
  listing.name = "templates";
  listing.partitions = keys.all_of_status(name_of(TemplateStatus::active));
  listing.in_index = true;
  listing.newest_first = true;
  // Of a customer's override, another program may say the same.
  listing.shows = [](const item::Item& item) { return version_of_sort(item::attribute_text(item, "SK")).has_value(); };
  TRY(const Page<item::Item> items, list_items(store_, listing, page));
  Page<TemplateSummary> answer;
  answer.cursor = items.cursor;
  for (const item::Item& item : items.entries) {
    const auto version = read_template(item);
    const auto versions = version ? look(keys, version->template_id)
                                  : OrRefusal<KnownVersions>(base::propagate(refusal_of(version.error())));
    // What another program wrote wrong hides no other template.
    if (!versions && versions.error().kind == RefusalKind::corrupt) {
      leave_out(answer, "templates", versions.error().message);
      continue;
    }
    if (!versions) return base::propagate(versions.error());
    // It may have been activated otherwise since the index was read.
    if (versions->numbers.active != version->version) continue;
    answer.entries.push_back(
        {version->template_id, versions->numbers.active, versions->numbers.latest, version->name, version->type});
  }
  return answer;
}

OrRefusal<TemplateVersion> Templates::put_override(const TemplateVersion& version, const Actor& actor) {
  const Keys keys = store_.keys(actor.tenant);
  TemplateVersion added = version;
  TRY_VOID(check_new(keys, added));
  if (!is_record_id(added.customer_id)) return refuse_field("customer_id", std::string(record_id_rule));
  TRY(const KnownVersions versions, look(keys, added.template_id));
  if (versions.numbers.latest == 0) return unknown_template(added.template_id);
  Commit commit = store_.begin();
  added.version = 0;
  added.status = TemplateStatus::active;
  added.created_by = actor.known_as();
  added.created_at = whole_second(commit.now());
  // An erased customer gets none.
  const std::size_t profile =
      commit.check(Keys::key(keys.customer(added.customer_id), profile_sort), "attribute_exists(PK)");
  commit.put(template_item(keys, added));
  commit.audit(actor, "template.overridden", template_subject(added.template_id), {{"customer", added.customer_id}},
               store_.random());
  std::vector<std::size_t> failed;
  const auto written = store_.write(std::move(commit), &failed);
  if (std::ranges::find(failed, profile) != failed.end()) return refuse_unknown_customer(added.customer_id);
  if (!written) return base::propagate(written.error());
  return added;
}

OrRefusal<void> Templates::remove_override(const std::string& customer_id, const std::string& template_id,
                                           const Actor& actor) {
  const Keys keys = store_.keys(actor.tenant);
  Commit commit = store_.begin();
  store::TransactDelete removal;
  removal.table_name = store_.tables().tracking;
  removal.key = Keys::key(keys.customer(customer_id), override_sort(template_id));
  removal.condition = "attribute_exists(PK)";
  const std::size_t place = commit.add(std::move(removal));
  commit.audit(actor, "template.override_removed", template_subject(template_id), {{"customer", customer_id}},
               store_.random());
  std::vector<std::size_t> failed;
  const auto written = store_.write(std::move(commit), &failed);
  if (std::ranges::find(failed, place) != failed.end())
    return refuse(RefusalKind::unknown_template,
                  "customer " + customer_id + " has no override of template " + template_id);
  return written;
}

OrRefusal<TemplateVersion> Templates::in_use(const std::string& template_id, const std::string& customer_id,
                                             const std::string& tenant) {
  const Keys keys = store_.keys(tenant);
  TRY(const auto item, store_.get(keys.customer(customer_id), override_sort(template_id)));
  if (item) {
    TRY(TemplateVersion own, readable(read_template(*item)));
    if (own.status == TemplateStatus::active) return own;
  }
  return find(template_id, std::nullopt, tenant);
}

OrRefusal<Branding> Templates::put_branding(const Branding& branding, const Actor& actor) {
  TRY_VOID(refuse_faults(faults_of(branding)));
  Commit commit = store_.begin();
  Branding put = branding;
  put.updated_at = whole_second(commit.now());
  commit.put(branding_item(store_.keys(actor.tenant), put));
  commit.audit(actor, "branding.put", "brandings/" + put.name, {}, store_.random());
  TRY_VOID(store_.write(std::move(commit)));
  return put;
}

OrRefusal<Branding> Templates::find_branding(const std::string& name, const std::string& tenant) {
  TRY(const auto item, store_.get(store_.keys(tenant).branding(name), std::string(current_sort)));
  if (!item) return refuse(RefusalKind::unknown_branding, "there is no branding " + name);
  return readable(read_branding(*item));
}

OrRefusal<Page<Branding>> Templates::brandings(const PageRequest& page, const std::string& tenant) {
  Listing listing;
  listing.name = "brandings";
  listing.partitions = {store_.keys(tenant).listing(branding_list)};
  listing.in_index = true;
  TRY(const Page<item::Item> items, list_items(store_, listing, page));
  return readable_page<Branding>(items, "brandings", read_branding);
}

OrRefusal<Rendered> Templates::render(const TemplateVersion& version, const Variables& known, const Variables& given,
                                      const std::string& tenant, KnownValues kind) {
  std::optional<Branding> branding;
  if (!version.branding.empty()) {
    TRY(const auto item, store_.get(store_.keys(tenant).branding(version.branding), std::string(current_sort)));
    // Another program's template may name a branding that is kept elsewhere.
    if (item) {
      TRY(branding, readable(read_branding(*item)));
    }
  }
  return render_text(version, branding, known, given, kind);
}

OrRefusal<Rendered> Templates::preview(const std::string& template_id, std::optional<int> version,
                                       const Variables& given, const std::string& tenant) {
  TRY(const TemplateVersion found, find(template_id, version, tenant));
  return render(found, sample_variables(), given, tenant, KnownValues::samples);
}

}  // namespace postino::reminders
