// The program: what it can be asked to do, and which part of the house does it.
#include <CLI/CLI.hpp>
#include <iostream>

#include "app/tour.h"

namespace {

constexpr int success = 0;
constexpr int failure = 1;  // it was understood, and did not work out
constexpr int misuse = 2;   // it was not understood

int take_tour(const std::string& directory) {
  if (const auto taken = postino::app::take_tour(directory, std::cout); !taken) {
    std::cerr << "postino: " << taken.error().message << "\n";
    return failure;
  }
  return success;
}

}  // namespace

int main(int count, char** arguments) {
  CLI::App program("Postino makes a company's messages reliable. Today it is the store that this stands on.",
                   "postino");
  program.set_version_flag("--version", "postino " POSTINO_VERSION);
  std::string directory;
  CLI::App* tour = program.add_subcommand("tour", "a guided tour of the store");
  tour->add_option("--data", directory, "keep the tour's data in this directory instead of a temporary one")
      ->type_name("DIRECTORY");
  try {
    program.parse(count, arguments);
  } catch (const CLI::Success& asked) {  // for help or the version, which this prints
    return program.exit(asked);
  } catch (const CLI::ParseError& error) {
    std::cerr << "postino: " << error.what() << "\nSee postino --help for what it can do.\n";
    return misuse;
  }
  if (*tour) return take_tour(directory);
  std::cerr << program.help();
  return misuse;
}
