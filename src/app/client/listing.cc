#include "app/client/listing.h"

#include <algorithm>
#include <limits>

#include "app/console/progress_bar.h"
#include "app/console/terminal_text.h"
#include "base/check.h"
#include "base/duration_words.h"
#include "messages/iso_duration.h"

namespace postino::app {

namespace {

const api::Schema* entry_schema(const Listing& listing) {
  const api::Schema* const page = api::answer_schema(operation_named(listing.operation));
  return page == nullptr ? nullptr : api::find_property(*page, "data[]");
}

std::vector<Column> table_columns(const Listing& listing) {
  std::vector<Column> columns;
  for (const ListingColumn& column : listing.columns) columns.push_back({std::string(column.title), column.align});
  return columns;
}

bool has_pages(const Listing& listing) {
  return api::find_parameter(operation_named(listing.operation), "cursor") != nullptr;
}

std::string text_of(const AnswerObject& entry, std::string_view field) {
  if (field.find("[]") != std::string_view::npos) return first_and_others(entry.texts(field));
  if (const std::size_t end = field.find('.'); end != std::string_view::npos) {
    const auto inner = entry.object(field.substr(0, end));
    return inner ? text_of(*inner, field.substr(end + 1)) : "";
  }
  const api::Schema& schema = *api::find_property(entry.schema(), field);
  if (schema.type == "integer") return grouped(entry.number(field));
  std::string text = entry.text(field);
  if (schema.reference != "Duration") return text;
  const auto duration = messages::parse_duration(text);
  return duration ? base::duration_in_words(*duration) : text;
}

std::string cell_of(const AnswerObject& entry, const ListingColumn& column, bool on_terminal) {
  std::string text = text_of(entry, column.field);
  if (!column.flag.empty() && entry.flag(column.flag)) text.append(column.mark);
  return on_terminal && column.most_columns ? shortened(text, *column.most_columns) : text;
}

class Printer {
 public:
  Printer(RestClient& client, const Listing& listing, const ListingOptions& options, const Console& console)
      : client_(client),
        listing_(listing),
        options_(options),
        console_(console),
        table_(table_columns(listing), console.out_columns),
        // On a terminal the table itself tells how far it is.
        progress_(console.errors, console.out_columns ? std::nullopt : console.errors_columns,
                  std::string(listing.label)),
        cursor_(options.cursor) {}

  base::Result<void> print() {
    const api::Parameter* const limit = api::find_parameter(operation_named(listing_.operation), "limit");
    const std::int64_t page_size = limit == nullptr ? 0 : *limit->schema.most;
    const std::int64_t wanted = options_.all ? std::numeric_limits<std::int64_t>::max() : options_.limit;
    std::int64_t printed = 0;
    do {
      TRY(const std::int64_t count, print_page(std::min(wanted - printed, page_size)));
      printed += count;
      progress_.show(printed);
    } while (!cursor_.empty() && printed < wanted);
    progress_.clear();
    if (!options_.json) say_what_is_not_there(printed);
    if (!cursor_.empty())
      console_.errors << "There are more. Use --limit or --all to see them, or --cursor with the cursor that --json "
                         "shows.\n";
    return {};
  }

 private:
  // Returns how many there were. A page may have fewer than asked for, and not be the last.
  base::Result<std::int64_t> print_page(std::int64_t limit) {
    OperationCall call(listing_.operation);
    for (const auto& [parameter, value] : options_.query) call.set(parameter, value);
    if (limit > 0) call.set("limit", std::to_string(limit));  // what has no limit comes whole
    if (has_pages(listing_)) call.set("cursor", cursor_);
    TRY(const std::string body, client_.fetch(call));
    TRY(const Answer answer, Answer::parse(listing_.operation, body));
    const auto entries = answer.root().objects("data");
    if (has_pages(listing_)) cursor_ = answer.root().raw_text("cursor");
    if (api::find_property(answer.root().schema(), "unreadable") != nullptr)
      unreadable_ += answer.root().number("unreadable");
    if (options_.json) {
      console_.print_foreign(body);
    } else {
      for (const AnswerObject& entry : entries) table_.add(cells_of(entry));
      console_.out << table_.take();
    }
    console_.out << std::flush;
    return static_cast<std::int64_t>(entries.size());
  }

  std::vector<std::string> cells_of(const AnswerObject& entry) const {
    std::vector<std::string> cells;
    for (const ListingColumn& column : listing_.columns)
      cells.push_back(cell_of(entry, column, console_.out_columns.has_value()));
    return cells;
  }

  void say_what_is_not_there(std::int64_t printed) const {
    if (unreadable_ > 0)
      console_.errors << "Left out, because they cannot be read: " << unreadable_
                      << ". The log of the server says which.\n";
    if (printed == 0) console_.errors << none_found;
  }

  RestClient& client_;
  const Listing& listing_;
  const ListingOptions& options_;
  const Console& console_;
  TableText table_;
  ProgressBar progress_;
  std::string cursor_;
  std::int64_t unreadable_ = 0;
};

}  // namespace

bool is_listable(const Listing& listing) {
  const api::Schema* const entry = entry_schema(listing);
  return entry != nullptr && std::ranges::all_of(listing.columns, [entry](const ListingColumn& column) {
           return api::find_property(*entry, column.field) != nullptr &&
                  (column.flag.empty() || api::find_property(*entry, column.flag) != nullptr);
         });
}

base::Result<void> print_listing(RestClient& client, const Listing& listing, const ListingOptions& options,
                                 const Console& console) {
  CHECK(is_listable(listing));
  return Printer(client, listing, options, console).print();
}

}  // namespace postino::app
