#include "reminders/record/import_lines.h"

#include <gmock/gmock.h>

namespace postino::reminders {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(ImportLines, TellWhatALineSays) {
  const auto lines = read_import(ImportKind::invoices, ImportFormat::csv,
                                 "invoice_id,customer_id,amount,currency,due_date,paid_at\n"
                                 "INV-1,a,1500.10,EUR,2026-11-15,2026-11-16\n");
  ASSERT_TRUE(lines);
  ASSERT_THAT(*lines, SizeIs(1));
  EXPECT_EQ(lines->front().line, 2);
  EXPECT_THAT(lines->front().faults, IsEmpty());
  EXPECT_EQ(lines->front().customer_id(), "a");
  EXPECT_EQ(lines->front().invoice->amount.text(), "1500.10 EUR");
  EXPECT_EQ(lines->front().invoice->paid_at, first_moment_after("2026-11-15"));
}

TEST(ImportLines, OfBothFormatsSayTheSame) {
  const auto csv = read_import(ImportKind::customers, ImportFormat::csv,
                               "id,name,email,opted_out\na, Ada ,ada@example.org,yes\n'+b,'=B,b@example.org,\n");
  const auto json = read_import(ImportKind::customers, ImportFormat::json_lines,
                                R"({"id":"a","name":"Ada","email":"ada@example.org","opted_out":true})"
                                "\n"
                                R"({"id":"+b","name":"=B","email":"b@example.org"})");
  ASSERT_TRUE(csv && json);
  ASSERT_THAT(*csv, SizeIs(2));
  ASSERT_THAT(*json, SizeIs(2));
  for (std::size_t i = 0; i < 2; ++i) EXPECT_EQ((*csv)[i].customer, (*json)[i].customer);
}

TEST(ImportLines, HaveOnlyKnownColumns) {
  for (const ImportKind kind : {ImportKind::customers, ImportKind::invoices}) {
    std::string header;
    for (const ImportColumn& column : import_columns(kind))
      header.append(header.empty() ? "" : ",").append(column.name);
    EXPECT_TRUE(read_import(kind, ImportFormat::csv, header));
    EXPECT_FALSE(read_import(kind, ImportFormat::csv, header + ",more"));
  }
}

}  // namespace
}  // namespace postino::reminders
