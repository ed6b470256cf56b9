#include "app/client/capacity_text.h"

#include <algorithm>

#include "app/console/table_text.h"
#include "app/console/terminal_text.h"

namespace postino::app {

namespace {

using enum Align;

// "on_demand" -> "on demand"
std::string words_of(std::string name) {
  std::ranges::replace(name, '_', ' ');
  return name;
}

std::string mode_of(const AnswerObject& answer) { return words_of(answer.text("recommendation")); }

// Provisioned and on demand side by side.
void print_costs(const AnswerObject& answer, const Console& console) {
  const auto provisioned = answer.object("provisioned");
  const auto on_demand = answer.object("on_demand");
  const auto prices = answer.object("prices");
  if (!provisioned || !on_demand || !prices) return;
  TableText table({{"A MONTH IN " + prices->text("currency")}, {"PROVISIONED", right}, {"ON DEMAND", right}});
  for (const char* const name : {"reads", "writes", "stream_reads", "storage", "total"})
    table.add({words_of(name), provisioned->text(name), on_demand->text(name)});
  console.out << table.take();
}

void print_notes(const AnswerObject& answer, const Console& console) {
  for (const std::string& note : answer.texts("notes[]")) console.out << note << "\n";
}

void print_requests(const AnswerObject& estimate, const Console& console) {
  TableText table({{"REQUESTS"}, {"INDEX"}, {"PER SECOND", right}, {"UNITS EACH", right}, {"UNITS PER SECOND", right}});
  for (const AnswerObject& line : estimate.objects("requests"))
    table.add({line.text("what"), line.text("index"), line.text("per_second"), line.text("units_each"),
               line.text("units_per_second") + " " + words_of(line.text("unit"))});
  console.out << table.take();
}

void print_break_even(const AnswerObject& estimate, const Console& console) {
  const auto even = estimate.object("break_even");
  if (!even) return;
  const std::string load = even->text("load_percent");
  const std::string hours = even->text("hours_per_day");
  std::string point = load.empty() ? "" : "at " + load + " % of these requests";
  if (!hours.empty()) point.append(point.empty() ? "" : ", or ").append("with " + hours + " hours of them a day");
  if (!point.empty())
    console.out << "With this capacity, both cost the same " << point << "; with less, on demand is cheaper.\n";
  console.out << "Provisioned capacity pays from " << even->text("read_utilisation_percent")
              << " % use of its read units, and from " << even->text("write_utilisation_percent")
              << " % of its write units.\n";
}

void print_parts(const AnswerObject& observation, const Console& console) {
  TableText table({{"TABLE"},
                   {"INDEX"},
                   {"READ UNITS", right},
                   {"WRITE UNITS", right},
                   {"READ UNITS A MONTH", right},
                   {"WRITE UNITS A MONTH", right},
                   {"ITEMS", right}});
  for (const AnswerObject& each : observation.objects("tables"))
    for (const AnswerObject& part : each.objects("parts"))
      table.add({each.text("table"), part.text("index"), part.text("read_units"), part.text("write_units"),
                 part.text("read_units_per_month"), part.text("write_units_per_month"), grouped(part.number("items"))});
  console.out << table.take();
}

void print_tables(const AnswerObject& observation, const Console& console) {
  TableText table({{"TABLE"}, {"PROVISIONED", right}, {"ON DEMAND", right}, {"CHEAPER"}, {"BY", right}});
  for (const AnswerObject& each : observation.objects("tables")) {
    const auto provisioned = each.object("provisioned");
    const auto on_demand = each.object("on_demand");
    if (provisioned && on_demand)
      table.add({each.text("table"), provisioned->text("total"), on_demand->text("total"), mode_of(each),
                 each.text("saving")});
  }
  console.out << table.take();
}

void print_services(const AnswerObject& observation, const Console& console) {
  TableText table(
      {{"SERVICE"}, {"OPERATION"}, {"READ UNITS", right}, {"WRITE UNITS", right}, {"A MONTH ON DEMAND", right}});
  for (const AnswerObject& each : observation.objects("services"))
    table.add({each.text("service"), each.text("operation"), each.text("read_units"), each.text("write_units"),
               each.text("cost")});
  console.out << table.take();
}

void print_hot_keys(const AnswerObject& observation, const Console& console) {
  TableText table(
      {{"HOT KEYS OF"}, {"INDEX"}, {"UNITS", right}, {"SHARE", right}, {"MOST IN A SECOND", right}, {"KEY"}},
      console.out_columns);
  for (const AnswerObject& key : observation.objects("hot_keys"))
    table.add({key.text("table"), key.text("index"), key.text("units") + " " + key.text("unit"),
               key.text("share_percent") + " %", key.text("most_in_a_second"),
               key.text("key") + (key.flag("key_is_cut") ? "..." : "")});
  console.out << table.take();
}

void print_large_items(const AnswerObject& observation, const Console& console) {
  TableText table({{"LARGE ITEMS OF"}, {"BYTES", right}, {"KEY"}}, console.out_columns);
  for (const AnswerObject& item : observation.objects("large_items"))
    table.add({item.text("table"), grouped(item.number("bytes")), item.text("key")});
  console.out << table.take();
}

}  // namespace

void print_estimate(const AnswerObject& estimate, const Console& console) {
  if (!estimate.objects("requests").empty()) {
    print_requests(estimate, console);
    console.out << "\n";
  }
  print_costs(estimate, console);
  console.out << "\n";
  for (const AnswerObject& capacity : estimate.objects("capacity")) {
    const std::string index = capacity.text("index");
    console.out << "Provision " << (index.empty() ? "the table" : "index " + index) << " with "
                << counted(capacity.number("read_units"), "read unit") << " and "
                << counted(capacity.number("write_units"), "write unit") << ".\n";
  }
  console.out << "Cheaper: " << mode_of(estimate) << ", by " << estimate.text("saving") << " a month, "
              << estimate.text("saving_percent") << " %.\n";
  print_break_even(estimate, console);
  print_notes(estimate, console);
}

void print_former_analysis(json::Element analysis, const Console& console) {
  const auto shown = [](json::Element object, std::string_view name) -> std::string {
    const auto member = object.member(name);
    if (!member) return "";
    return printable(member->is_string() ? std::string(member->text().value_or("")) : member->compact());
  };
  const auto provisioned = analysis.member("provisioned");
  const auto on_demand = analysis.member("on_demand");
  if (!provisioned || !on_demand) return;
  TableText table({{"A MONTH IN USD"}, {"PROVISIONED", right}, {"ON DEMAND", right}});
  table.add({"reads", shown(*provisioned, "rcu_cost"), shown(*on_demand, "read_cost")});
  table.add({"writes", shown(*provisioned, "wcu_cost"), shown(*on_demand, "write_cost")});
  table.add({"storage", shown(*provisioned, "storage_cost"), shown(*on_demand, "storage_cost")});
  table.add({"total", shown(*provisioned, "total"), shown(*on_demand, "total")});
  console.out << table.take() << "\n"
              << shown(analysis, "read_units") << " read units, or " << shown(analysis, "eventual_read_units")
              << " with eventual reads; " << shown(analysis, "write_units") << " write units.\n"
              << "Cheaper: " << shown(analysis, "recommendation") << ", by " << shown(analysis, "savings")
              << " a month.\n";
  const auto notes = analysis.member("notes");
  if (!notes) return;
  console.out << "\nWhere it contradicts itself or AWS:\n";
  for (const json::Element note : notes->elements()) console.out << "- " << printable(note.text().value_or("")) << "\n";
}

void print_observation(const AnswerObject& observation, const Console& console) {
  console.out << "Watched since " << observation.text("since") << ", for " << grouped(observation.number("seconds"))
              << " s.\n\n";
  print_parts(observation, console);
  console.out << "\n";
  print_tables(observation, console);
  console.out << "\n";
  if (!observation.objects("services").empty()) {
    print_services(observation, console);
    console.out << "\n";
  }
  print_costs(observation, console);
  console.out << "\n" << observation.text("best") << " if each table has what is cheaper for it.\n\n";
  if (!observation.objects("hot_keys").empty()) {
    print_hot_keys(observation, console);
    console.out << "\n";
  }
  if (!observation.objects("large_items").empty()) {
    print_large_items(observation, console);
    console.out << "\n";
  }
  for (const AnswerObject& advice : observation.objects("advice"))
    console.out << words_of(advice.text("about")) << ": " << advice.text("text") << "\n";
  print_notes(observation, console);
}

}  // namespace postino::app
