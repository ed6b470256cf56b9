// The part of Erasure that hands a customer's data out.
#include <map>

#include "base/base64.h"
#include "item/attribute_text.h"
#include "json/writer.h"
#include "reminders/customer_records.h"
#include "reminders/erasure.h"
#include "reminders/record/customer.h"

namespace postino::reminders {

namespace {

void write_plain(json::Writer& writer, const item::AttributeValue& value);

template <class Members, class Write>
void write_list(json::Writer& writer, const Members& members, const Write& write) {
  writer.begin_array();
  for (const auto& member : members) write(member);
  writer.end_array();
}

// As JSON has it, numbers exact.
struct PlainValue {
  json::Writer& writer;

  void operator()(const std::string& text) const { writer.string(text); }
  void operator()(const item::Number& number) const { writer.raw(number.to_string()); }
  void operator()(const item::Binary& binary) const { writer.string(base::to_base64(binary.bytes)); }
  void operator()(bool value) const { writer.boolean(value); }
  void operator()(item::Null) const { writer.null(); }
  template <class Member>
  void operator()(const item::Set<Member>& set) const {
    write_list(writer, set.members(), *this);
  }
  void operator()(const item::List& list) const {
    write_list(writer, list, [this](const item::AttributeValue& value) { write_plain(writer, value); });
  }
  void operator()(const item::Map& map) const {
    writer.begin_object();
    for (const item::Attribute& each : map) {
      writer.any_key(each.name);
      write_plain(writer, each.value);
    }
    writer.end_object();
  }
};

void write_plain(json::Writer& writer, const item::AttributeValue& value) {
  std::visit(PlainValue{writer}, value.storage());
}

// The sort key tells which record it is; the other keys say nothing more.
std::string plain_record(item::Item item) {
  for (const char* const name : {"PK", "GSI1PK", "GSI1SK"}) item.erase(name);
  std::string text;
  json::Writer writer(text);
  PlainValue{writer}(item);
  return text;
}

}  // namespace

Answer<std::string> Erasure::export_customer(const std::string& id, const Actor& actor) {
  const tl::unexpected<Refusal> unknown = refuse(RefusalKind::unknown_customer, "there is no such customer");
  if (!is_record_id(id)) return unknown;
  const Keys keys = store_.keys(actor.tenant);
  std::map<std::string, std::string, std::less<>> records;  // of each kind, with commas
  for (const char* const kind : {"drafts", "invoices", "overrides", "revisions", "sent_reminders"}) records[kind];
  std::size_t bytes = 0;
  bool is_known = false;
  const auto add = [&](std::string_view kind, item::Item item) {
    std::string& texts = records[std::string(kind)];
    if (!texts.empty()) texts += ',';
    const std::string text = plain_record(std::move(item));
    texts += text;
    bytes += text.size();
  };
  TRY_VOID(read_partition(store_, keys, id, "", [&](std::vector<item::Item> items) -> Answer<void> {
    for (item::Item& item : items) {
      const std::string_view kind = kind_of_record(item::attribute_text(item, "SK"));
      is_known = is_known || (!kind.empty() && kind != "guard");
      if (!kind.empty()) add(kind, std::move(item));
    }
    if (bytes > max_export_bytes)
      return refuse(RefusalKind::wrong_state,
                    "there are more than " + std::to_string(max_export_bytes) + " bytes of the customer " + id);
    return {};
  }));
  if (!is_known) return refuse(RefusalKind::unknown_customer, "there is no customer " + id);
  TRY(std::vector<item::Item> events, audit_events_of(store_, keys, id, base::TimePoint()));
  records["audit"];
  for (item::Item& event : events) add("audit", std::move(event));

  Commit commit = store_.begin();
  commit.audit(actor, "customer.exported", "customers/" + id, {}, store_.random());
  TRY_VOID(store_.write(std::move(commit)));
  std::string text;
  json::Writer writer(text);
  writer.begin_object().key("customer_id").string(id);
  for (const auto& [kind, texts] : records) {
    const bool is_single = kind == "profile" || kind == "guard";
    writer.key(kind).raw(is_single ? texts : "[" + texts + "]");
  }
  writer.end_object();
  return text;
}

}  // namespace postino::reminders
