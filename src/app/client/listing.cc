#include "app/client/listing.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <limits>

#include "app/client/answer_json.h"
#include "app/console/progress_bar.h"

namespace postino::app {

namespace {

constexpr std::int64_t most_on_a_page = 100;

class Printer {
 public:
  Printer(RestClient& client, const Listing& listing, bool json, const Console& console)
      : client_(client),
        listing_(listing),
        json_(json),
        console_(console),
        table_(listing.columns, console.out_columns),
        // On a terminal the table itself tells how far it is.
        progress_(console.errors, console.out_columns ? std::nullopt : console.errors_columns, listing.label) {}

  base::Result<void> print(std::int64_t wanted) {
    std::int64_t printed = 0;
    do {
      TRY(const std::int64_t count, print_page(std::min(wanted - printed, most_on_a_page)));
      printed += count;
      progress_.show(printed);
    } while (!cursor_.empty() && printed < wanted);
    progress_.clear();
    if (console_.out_columns && !json_) say_what_is_not_there(printed);
    return {};
  }

 private:
  // Returns how many there were. A page may have fewer than asked for, and not be the last.
  base::Result<std::int64_t> print_page(std::int64_t limit) {
    auto parameters = listing_.parameters;
    parameters.emplace_back("limit", std::to_string(limit));
    parameters.emplace_back("cursor", cursor_);
    TRY(const std::string body, client_.get(listing_.path + query_text(parameters)));
    json::Document document;
    TRY_VOID(parse_answer(document, body));
    const auto entries = list_of(document.root(), "data");
    cursor_ = raw_text_of(document.root(), "cursor");
    if (json_) {
      console_.print_foreign(body);
    } else {
      for (const json::Element entry : entries) table_.add(listing_.cells(entry));
      console_.out << table_.take();
    }
    console_.out << std::flush;
    return static_cast<std::int64_t>(entries.size());
  }

  void say_what_is_not_there(std::int64_t printed) const {
    if (printed == 0)
      console_.errors << "There are none.\n";
    else if (!cursor_.empty())
      console_.errors << "There are more: see them with --limit or --all.\n";
  }

  RestClient& client_;
  const Listing& listing_;
  const bool json_;
  const Console& console_;
  TableText table_;
  ProgressBar progress_;
  std::string cursor_;
};

}  // namespace

void add_listing_options(CLI::App& command, ListingOptions& options) {
  command.add_option("--limit", options.limit, "how many at most, 50 by default")
      ->type_name("COUNT")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1'000'000'000}).description(""));
  command.add_flag("--all", options.all, "all of them, whatever the limit");
}

base::Result<void> print_listing(RestClient& client, const Listing& listing, const ListingOptions& options, bool json,
                                 const Console& console) {
  const std::int64_t wanted = options.all ? std::numeric_limits<std::int64_t>::max() : options.limit;
  return Printer(client, listing, json, console).print(wanted);
}

}  // namespace postino::app
