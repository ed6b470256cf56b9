#include "app/copy/copy_report.h"

#include <algorithm>
#include <numeric>

#include "app/console/table_text.h"
#include "app/console/terminal_text.h"
#include "json/writer.h"

namespace postino::app {

namespace {

std::int64_t total_of(const outbox::Counts& counts) {
  return std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
}

std::string difference(std::int64_t source, std::int64_t target) { return source == target ? "" : "differs"; }

std::string status_table(const outbox::Comparison& comparison, const CopyNames& names) {
  TableText table({{"STATUS"}, {names.from, Align::right}, {names.to, Align::right}, {""}});
  const auto add = [&](std::string_view name, std::int64_t source, std::int64_t target) {
    table.add({std::string(name), grouped(source), grouped(target), difference(source, target)});
  };
  for (const outbox::State state : outbox::all_states()) {
    const auto place = static_cast<std::size_t>(state);
    if (comparison.source[place] != 0 || comparison.target[place] != 0)
      add(name_of(state), comparison.source[place], comparison.target[place]);
  }
  add("total", total_of(comparison.source), total_of(comparison.target));
  return table.take();
}

std::string state_of(const TableOutcome& table) {
  if (!table.skipped.empty()) return table.skipped;
  std::string state = difference(table.compared.source, table.compared.target);
  const auto add = [&](std::int64_t count, const std::string& what) {
    if (count > 0) state.append(state.empty() ? "" : "; ").append(grouped(count)).append(what);
  };
  add(table.items.different, " in another form there");
  add(table.items.failed, " not copied");
  return state;
}

std::string tables_text(const std::vector<TableOutcome>& tables, const CopyNames& names) {
  TableText text({{"TABLE"},
                  {"copied", Align::right},
                  {"had been there", Align::right},
                  {names.from, Align::right},
                  {names.to, Align::right},
                  {""}});
  for (const TableOutcome& table : tables) {
    const bool is_copied = table.skipped.empty();
    const auto number = [&](std::int64_t count) { return is_copied ? grouped(count) : std::string("-"); };
    text.add({printable(table.table), number(table.items.copied), number(table.items.present + table.items.different),
              number(table.compared.source), number(table.compared.target), state_of(table)});
  }
  return text.take();
}

void write_texts_of_copy(json::Writer& writer, std::string_view name, const std::vector<std::string>& texts) {
  writer.key(name).begin_array();
  for (const std::string& text : texts) writer.string(text);
  writer.end_array();
}

void write_emails(json::Writer& writer, const EmailOutcome& emails, bool has_suppressions) {
  writer.key("copied").integer(emails.counts.copied);
  writer.key("present").integer(emails.counts.present);
  if (has_suppressions) writer.key("suppressions").integer(emails.counts.suppressions);
  write_texts_of_copy(writer, "failures", emails.counts.failures);
  writer.key("unlisted").integer(emails.unlisted);
  writer.key("states").begin_object();
  for (const outbox::State state : outbox::all_states()) {
    const auto place = static_cast<std::size_t>(state);
    writer.key(name_of(state)).begin_object();
    writer.key("source").integer(emails.comparison.source[place]);
    writer.key("target").integer(emails.comparison.target[place]);
    writer.end_object();
  }
  writer.end_object();
}

void write_table(json::Writer& writer, const TableOutcome& table) {
  writer.begin_object();
  writer.key("table").string(table.table);
  if (!table.skipped.empty()) {
    writer.key("skipped").string(table.skipped);
  } else {
    writer.key("copied").integer(table.items.copied);
    writer.key("present").integer(table.items.present);
    writer.key("different").integer(table.items.different);
    writer.key("failed").integer(table.items.failed);
    write_texts_of_copy(writer, "failures", table.items.failures);
    write_texts_of_copy(writer, "differences", table.items.differences);
    writer.key("source").integer(table.compared.source);
    writer.key("target").integer(table.compared.target);
  }
  writer.end_object();
}

}  // namespace

std::string copy_json(const CopyOutcome& outcome) {
  std::string text;
  json::Writer writer(text);
  writer.begin_object();
  if (outcome.emails) write_emails(writer, *outcome.emails, outcome.has_suppressions);
  if (!outcome.tables.empty()) {
    writer.key("tables").begin_array();
    for (const TableOutcome& table : outcome.tables) write_table(writer, table);
    writer.end_array();
  }
  write_texts_of_copy(writer, "notes", outcome.notes);
  writer.key("equal").boolean(outcome.equal());
  writer.end_object();
  return text;
}

void print_copy(const CopyOutcome& outcome, const CopyNames& names, const Console& console) {
  if (!outcome.tables.empty()) console.out << tables_text(outcome.tables, names);
  if (outcome.emails) {
    const EmailOutcome& emails = *outcome.emails;
    console.out << counted(emails.counts.copied, "e-mail") << " copied, " << grouped(emails.counts.present)
                << " already there";
    if (outcome.has_suppressions) console.out << "; " << counted(emails.counts.suppressions, "suppression");
    console.out << "\n" << status_table(emails.comparison, names);
    if (emails.comparison.source_suppressions != emails.comparison.target_suppressions)
      console.out << counted(emails.comparison.source_suppressions - emails.comparison.target_suppressions,
                             "suppression")
                  << " of the source not in the target\n";
  }
  for (const std::string& note : outcome.notes) console.print_foreign("note: " + note + "\n");
  if (outcome.emails && !outcome.emails->comparison.equal())
    console.out << "The ledgers differ: e-mails were not copied, or changed during the copy. Stop all servers on both "
                   "ledgers and copy again.\n";
  if (std::ranges::any_of(outcome.tables, [](const TableOutcome& table) { return !table.equal(); }))
    console.out
        << "Tables differ: the source was used while it was copied, or the target has been used. What the target "
           "had stays as it was. To have an item as the source has it, delete it at the target and copy again; what "
           "the target alone has, delete there if nobody needs it.\n";
}

void print_copy_troubles(const CopyOutcome& outcome, const Console& console) {
  const auto tell = [&](const std::string& what, std::string_view how = "not copied") {
    console.errors << "postino: " << how << ": " << printable(what) << "\n";
  };
  for (const TableOutcome& table : outcome.tables) {
    for (const std::string& key : table.items.differences)
      tell("table " + table.table + ": " + key, "in another form at the target, where it stays as it is");
    if (const auto more = table.items.different - static_cast<std::int64_t>(table.items.differences.size()); more > 0)
      tell("table " + table.table + ": " + grouped(more) + " more", "in another form at the target");
    for (const std::string& failure : table.items.failures) tell("table " + table.table + ": " + failure);
    if (const auto more = table.items.failed - static_cast<std::int64_t>(table.items.failures.size()); more > 0)
      tell("table " + table.table + ": " + grouped(more) + " more");
  }
  if (!outcome.emails) return;
  for (const std::string& failure : outcome.emails->counts.failures) tell(failure);
  if (const std::int64_t count = outcome.emails->unlisted; count > 0)
    tell(counted(count, "e-mail") +
         " of other programs, or that cannot be read. Start a server on the source, which takes over what it can, stop "
         "it and copy again");
}

}  // namespace postino::app
