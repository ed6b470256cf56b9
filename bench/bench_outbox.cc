// The outbox beside Postfix: e-mails of 4 KB, accepted durably, and sent to smtp-sink.
//
//   bench_outbox [--quick] [--postino PROGRAM] [--emails NUMBER] [part...]
//
// The parts are accept, deliver, claim, shares and footprint, all by default; and endurance, only when it is named,
// which sends a million e-mails, or as many as --emails says.
//
// Postino gets its e-mails over its REST API, one in each request; Postfix gets them from smtp-source, over as many
// sessions as there are connections. Both keep their data on the file system of this program, and sync it. While
// acceptance is measured nothing is sent: Postino's e-mails are for tomorrow (their messages are built when there is
// room), Postfix's are put on hold. Without Postfix, or without root, which it needs, its columns stay empty. Missing a
// bar is no failure, because the machine is never quiet.
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "base/temporary_directory.h"
#include "outbox_race.h"

namespace {

using postino::bench::OutboxRace;
using postino::bench::PostfixProcess;
using postino::bench::SmtpSinkProcess;

struct Part {
  std::string_view name;
  void (*run)(OutboxRace&);
  bool takes_long = false;  // runs only when it is named
};

constexpr Part parts[] = {
    {"accept", postino::bench::race_acceptance},      {"deliver", postino::bench::race_delivery},
    {"claim", postino::bench::compare_claims},        {"shares", postino::bench::measure_fair_shares},
    {"footprint", postino::bench::measure_footprint}, {"endurance", postino::bench::measure_endurance, true},
};

bool needs_sink(std::string_view part) { return part == "deliver" || part == "footprint" || part == "endurance"; }

struct Choice {
  bool quick = false;
  std::filesystem::path program;
  std::optional<std::uint64_t> emails;
  std::vector<std::string_view> names;

  bool includes(std::string_view name) const {
    if (!names.empty()) return std::ranges::find(names, name) != names.end();
    return !std::ranges::find(parts, name, &Part::name)->takes_long;
  }
};

bool everybody_reaches(const std::filesystem::path& directory) {
  for (std::filesystem::path path = directory; path.has_relative_path(); path = path.parent_path())
    if ((status(path).permissions() & std::filesystem::perms::others_exec) == std::filesystem::perms::none)
      return false;
  return true;
}

int run(const Choice& choice) {
  const auto home = std::filesystem::canonical("/proc/self/exe").parent_path();
  // Postfix does not work as root: where its user cannot go everybody's data is elsewhere.
  const postino::base::TemporaryDirectory directory(everybody_reaches(home) ? home : "/var/tmp");
  std::filesystem::permissions(directory.path(), std::filesystem::perms::others_exec,
                               std::filesystem::perm_options::add);
  OutboxRace race{.program = choice.program.empty() ? home / "postino" : choice.program, .directory = directory.path()};
  race.quick = choice.quick;
  if (choice.emails) race.emails = *choice.emails;
  std::unique_ptr<SmtpSinkProcess> sink;
  std::unique_ptr<PostfixProcess> postfix;
  const bool has_sink = SmtpSinkProcess::is_installed();
  if (!has_sink)
    std::fprintf(stderr, "bench: smtp-sink is not installed: nothing is sent, nor compared with Postfix\n");
  if (has_sink && (choice.includes("accept") || choice.includes("deliver"))) {
    sink = std::make_unique<SmtpSinkProcess>();
    std::filesystem::create_directory(directory.path() / "postfix");
    postfix = PostfixProcess::start(directory.path() / "postfix", sink->port());
  }
  race.postfix_sink = sink.get();
  race.postfix = postfix.get();
  postino::bench::Report::header("postino", "postfix");
  for (const Part& part : parts)
    if (choice.includes(part.name) && (has_sink || !needs_sink(part.name))) part.run(race);
  std::printf("%d below their bar\n", race.report.below());
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  Choice choice;
  for (int i = 1; i < count; ++i) {
    const std::string_view word = arguments[i];
    if (word == "--quick") {
      choice.quick = true;
    } else if (word == "--postino" && i + 1 < count) {
      choice.program = arguments[++i];
    } else if (word == "--emails" && i + 1 < count) {
      choice.emails = std::strtoull(arguments[++i], nullptr, 10);
    } else if (std::ranges::find(parts, word, &Part::name) != std::end(parts)) {
      choice.names.push_back(word);
    } else {
      std::fprintf(stderr,
                   "usage: bench_outbox [--quick] [--postino PROGRAM] [--emails NUMBER] [accept] [deliver] [claim] "
                   "[shares] [footprint] [endurance]\n");
      return 2;
    }
  }
  return run(choice);
}
