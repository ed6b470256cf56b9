// How --help looks: one column for the options, one for what they do, wrapped to a width that can be read.
#pragma once

#include <CLI/CLI.hpp>
#include <initializer_list>
#include <string>
#include <string_view>

namespace postino::app {

// In lines of at most so many characters, broken at spaces. Line ends stay.
std::string wrapped(std::string_view text, std::size_t width);

// At the end of a command's help. Each is a whole line, as it is typed. Commands that are added to it later would have
// them too, so that this comes last.
void add_examples(CLI::App& command, std::initializer_list<std::string_view> lines);

class HelpFormat final : public CLI::Formatter {
 public:
  HelpFormat();
  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override;
  std::string make_description(const CLI::App* app) const override;
  std::string make_subcommands(const CLI::App* app, CLI::AppFormatMode mode) const override;
  std::string make_subcommand(const CLI::App* sub) const override;
  std::string make_option(const CLI::Option* option, bool is_positional) const override;
  std::string make_option_name(const CLI::Option* option, bool is_positional) const override;
  std::string make_option_opts(const CLI::Option* option) const override;
  std::string make_option_desc(const CLI::Option* option) const override;
};

}  // namespace postino::app
