// Lists of the REST API that come page by page, printed as one table.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/client/answer.h"
#include "app/client/rest_client.h"
#include "app/console/console.h"
#include "app/console/table_text.h"

namespace postino::app {

// On a terminal, words of people are cut to this many columns, so that long ones do not push others off the line. Ids
// are not, because they are needed as they are; the last column is cut to what is left.
inline constexpr int name_columns = 30;
inline constexpr int text_columns = 50;

// A column shows a field of the entries or of an object within ("callback.url"): a text, a number, or the first of
// several texts ("recipients[].address").
struct ListingColumn {
  std::string_view title;
  std::string_view field;
  Align align = Align::left;
  std::string_view flag = {};  // another field: where it is true, `mark` follows the text
  std::string_view mark = {};
  std::optional<int> most_columns = std::nullopt;  // on a terminal
};

struct Listing {
  std::string_view operation;  // that answers with a page, or with a list that has only one: "listEmails"
  std::string_view label;      // for the progress: "reading e-mails"
  std::vector<ListingColumn> columns;
};

// What is said of an empty list, on the standard error: so that it does not look like a command that did nothing.
inline constexpr const char* none_found = "None found.\n";

// Are all columns fields of the entries?
bool is_listable(const Listing& listing);

struct ListingOptions {
  std::int64_t limit = 0;
  bool all = false;
  std::string cursor = {};                                // where to begin; empty: with the first entry
  bool json = false;                                      // print each page as the server has answered it, on a line
  std::map<std::string, std::string, std::less<>> query;  // parameters of the operation, also of its path
};

base::Result<void> print_listing(RestClient& client, const Listing& listing, const ListingOptions& options,
                                 const Console& console);

}  // namespace postino::app
