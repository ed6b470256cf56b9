#include "app/cli/help_format.h"

#include <algorithm>
#include <sstream>

#include "base/text.h"

namespace postino::app {

namespace {

constexpr std::size_t option_columns = 30;
constexpr std::size_t line_columns = 100;

}  // namespace

std::string wrapped(std::string_view text, std::size_t width) {
  std::string out;
  std::size_t column = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of(" \n"), text.size());
    const std::string_view word = text.substr(0, end);
    if (column > 0 && column + 1 + word.size() > width) {
      out += '\n';
      column = 0;
    } else if (column > 0) {
      out += ' ';
      ++column;
    }
    out += word;
    column += word.size();
    if (end < text.size() && text[end] == '\n') {
      out += '\n';
      column = 0;
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

void add_examples(CLI::App& command, std::initializer_list<std::string_view> lines) {
  std::string text = "Examples:";
  for (const std::string_view line : lines) text.append("\n  ").append(line);
  command.footer(text);
}

HelpFormat::HelpFormat() {
  column_width(option_columns);
  label("REQUIRED", "(required)");
  label("OPTIONS", "OPTION...");
  label("Positionals", "Arguments");
  label("SUBCOMMAND", "COMMAND");
  label("SUBCOMMANDS", "COMMAND");
}

std::string HelpFormat::make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const {
  const std::string help = Formatter::make_help(app, std::move(name), mode);
  return CLI::detail::find_and_replace(help, "\n\n\n", "\n\n");
}

// In lists a description is a line, here it is a sentence.
std::string HelpFormat::make_description(const CLI::App* app) const {
  std::string text = app->get_description();
  if (text.empty()) return text;
  text[0] = base::upper(text[0]);
  if (!text.ends_with('.')) text += '.';
  return wrapped(text, line_columns) + "\n\n";
}

std::string HelpFormat::make_subcommands(const CLI::App* app, CLI::AppFormatMode mode) const {
  return CLI::detail::find_and_replace(Formatter::make_subcommands(app, mode), "Subcommands:", "Commands:");
}

std::string HelpFormat::make_subcommand(const CLI::App* sub) const {
  std::ostringstream out;
  CLI::detail::format_help(out, sub->get_name(), wrapped(sub->get_description(), line_columns - option_columns),
                           option_columns);
  return out.str();
}

std::string HelpFormat::make_option(const CLI::Option* option, bool is_positional) const {
  std::ostringstream out;
  std::string name = make_option_name(option, is_positional);
  if (!is_positional)
    name += make_option_opts(option);
  else if (option->get_expected_max() > 1)
    name += "...";
  CLI::detail::format_help(out, name, make_option_desc(option), option_columns);
  return out.str();
}

// An argument is called as its value is.
std::string HelpFormat::make_option_name(const CLI::Option* option, bool is_positional) const {
  if (is_positional) return option->get_type_name();
  return CLI::detail::find_and_replace(Formatter::make_option_name(option, is_positional), ",", ", ");
}

std::string HelpFormat::make_option_opts(const CLI::Option* option) const {
  if (option->get_type_name().empty()) return "";  // a flag
  std::string text = " " + option->get_type_name();
  if (option->get_required()) text += " " + get_label("REQUIRED");
  return text;
}

std::string HelpFormat::make_option_desc(const CLI::Option* option) const {
  return wrapped(option->get_description(), line_columns - option_columns);
}

}  // namespace postino::app
