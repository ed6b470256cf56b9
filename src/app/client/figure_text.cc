#include "app/client/figure_text.h"

#include <algorithm>

#include "app/console/table_text.h"
#include "app/console/terminal_text.h"

namespace postino::app {

namespace {

std::string number_in(json::Element object, std::string_view name) {
  const auto member = object.member(name);
  if (!member) return "";
  if (const auto whole = member->integer()) return grouped(*whole);
  return member->number() ? printable(member->compact()) : "";
}

std::string text_in(json::Element object, std::string_view name) {
  const auto member = object.member(name);
  return member && member->text() ? printable(std::string(*member->text())) : "";
}

// A figure that is measured has a count and an average; one that is counted has counts by kind.
void add_figure(TableText& table, const std::string& name, json::Element figure) {
  if (figure.member("average")) return table.add({name, number_in(figure, "count"), number_in(figure, "average")});
  for (const auto& [kind, count] : figure.members())
    table.add({name + " " + printable(std::string(kind)), grouped(count.integer().value_or(0)), ""});
}

}  // namespace

std::string figures_text(json::Element figures) {
  TableText table({{"FIGURE"}, {"COUNT", Align::right}, {"AVERAGE", Align::right}});
  for (const auto& [name, figure] : figures.members())
    if (figure.is_object()) add_figure(table, printable(std::string(name)), figure);
  std::string text = table.take();
  const auto sources = figures.member("sources");
  if (!sources) return text;
  for (const json::Element source : sources->elements())
    if (const std::string reason = text_in(source, "counted_anew_because"); !reason.empty())
      text.append(text_in(source, "name")).append(" may be wrong until they are counted again: ").append(reason) +=
          '\n';
  return text;
}

std::string history_text(json::Element history) {
  TableText table({{"BEGIN"}, {"WHAT"}, {"COUNT", Align::right}, {"AVERAGE", Align::right}});
  const auto points = history.member("data");
  if (!points) return "";
  for (const json::Element point : points->elements())
    for (const auto& [name, amount] : point.members())
      if (amount.is_object())
        table.add({text_in(point, "begin"), printable(std::string(name)), number_in(amount, "count"),
                   number_in(amount, "average")});
  return table.take();
}

void EventReader::feed(std::string_view part, const std::function<void(std::string_view data)>& tell) {
  constexpr std::string_view event_end = "\n\n", data_begin = "data: ";
  rest_.append(part);
  while (true) {
    const std::size_t end = rest_.find(event_end);
    if (end == std::string::npos) return;
    const std::string event = rest_.substr(0, end);
    rest_.erase(0, end + event_end.size());
    for (std::size_t begin = 0; begin < event.size();) {
      const std::size_t line_end = std::min(event.find('\n', begin), event.size());
      const std::string_view line = std::string_view(event).substr(begin, line_end - begin);
      if (line.starts_with(data_begin)) tell(line.substr(data_begin.size()));
      begin = line_end + 1;
    }
  }
}

}  // namespace postino::app
