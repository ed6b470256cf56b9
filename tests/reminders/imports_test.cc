// Import of customers and invoices, and export.
#include "reminders/imports.h"

#include "base/many_threads_testing.h"
#include "base/timestamp.h"
#include "customers_environment.h"
#include "failing_store.h"

namespace postino::reminders {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class ImportsTest : public ::testing::Test {
 protected:
  ImportReport run(ImportKind kind, ImportFormat format, const std::string& text) {
    const auto report = imports_.run(kind, format, text, test_actor);
    EXPECT_TRUE(succeeded(report));
    return report ? *report : ImportReport();
  }
  ImportReport customers_csv(const std::string& text) { return run(ImportKind::customers, ImportFormat::csv, text); }
  ImportReport invoices_csv(const std::string& text) { return run(ImportKind::invoices, ImportFormat::csv, text); }
  ImportReport customers_json(const std::string& text) {
    return run(ImportKind::customers, ImportFormat::json_lines, text);
  }
  ImportReport invoices_json(const std::string& text) {
    return run(ImportKind::invoices, ImportFormat::json_lines, text);
  }
  std::string fault(ImportKind kind, ImportFormat format, const std::string& text) {
    return refusal_text(imports_.run(kind, format, text, test_actor));
  }
  // "3 taken, 1 unchanged, 2 refused", and "line field: rule" of these.
  static std::vector<std::string> shown(const ImportReport& report) {
    std::vector<std::string> all = {std::to_string(report.taken) + " taken, " + std::to_string(report.unchanged) +
                                    " unchanged, " + std::to_string(report.refused) + " refused"};
    for (const RefusedLine& line : report.lines)
      all.push_back(std::to_string(line.line) + " " + line.field + ": " + line.rule);
    return all;
  }
  Customer customer(const std::string& id) { return store_.customers().find(id, "").value_or(Customer()); }
  Invoice invoice(const std::string& id, const std::string& of = "a") {
    return store_.customers().find_invoice(of, id, "").value_or(Invoice());
  }
  std::string exported(ImportKind kind, ImportFormat format, int limit = 2) {
    return exported_from(imports_, kind, format, limit);
  }
  static std::string exported_from(Imports& imports, ImportKind kind, ImportFormat format, int limit = 2) {
    std::string text;
    PageRequest page{.cursor = "", .limit = limit};
    do {
      const auto part = imports.export_part(kind, format, page, "");
      EXPECT_TRUE(succeeded(part));
      if (!part) break;
      text += part->text;
      page.cursor = part->cursor;
    } while (!page.cursor.empty());
    return text;
  }

  CustomersEnvironment store_;
  Imports imports_{store_.customers()};
};

TEST_F(ImportsTest, TakeCustomersAsCsv) {
  EXPECT_THAT(shown(customers_csv("customer_id,customer_name,customer_email\n"
                                  "a,Ada,ada@example.org\n"
                                  "b,\"King, \"\"B\"\"\",b@example.org\n")),
              ElementsAre("2 taken, 0 unchanged, 0 refused"));
  EXPECT_EQ(customer("b").name, "King, \"B\"");
  EXPECT_THAT(shown(customers_csv("\xEF\xBB\xBF\"Email\";\"ID\"; Name ;opted_out\r\n"
                                  "ada@example.org;a; Ada ;\r\n"
                                  "b2@example.org;b;Bea;yes\r\n"
                                  "\r\n"
                                  "c@example.org;c;Cy;FALSE\r\n")),
              ElementsAre("2 taken, 1 unchanged, 0 refused"))
      << "as a spreadsheet writes it";
  EXPECT_EQ(customer("b").email, "b2@example.org");
  EXPECT_TRUE(customer("b").opted_out);
  EXPECT_FALSE(customer("c").opted_out);
  EXPECT_THAT(shown(customers_csv("id,name,email,opted_out\nb,Bob,b2@example.org,false\nb,Bo,b2@example.org,\n")),
              ElementsAre("1 taken, 0 unchanged, 1 refused",
                          "2 opted_out: must not be false, because the customer has opted out; opting in is another "
                          "request"));
  EXPECT_TRUE(customer("b").opted_out) << "an import takes no decision of a customer back";
  EXPECT_EQ(customer("b").name, "Bo");
}

TEST_F(ImportsTest, TellOfEveryLineThatIsRefused) {
  EXPECT_THAT(shown(customers_csv("id,name,email,opted_out\n"
                                  "a,Ada,ada@example.org,\n"
                                  "a b,,nobody,\n"
                                  "c,Cy\n"
                                  "d,\"Di\"x,d@example.org,\n"
                                  "e,\"E\nF\",e@example.org,\n"
                                  "f,Fay,f@example.org,perhaps\n"
                                  "g,Gus,g@example.org,no\n")),
              ElementsAre("2 taken, 0 unchanged, 5 refused", "3 customer_name: is required",
                          "4 : must have 4 fields, as the first line",
                          "5 : must not have text behind the closing quote of a field",
                          "6 customer_name: must not have line breaks or other control characters",
                          "8 opted_out: must be true or false"));
  const auto several = shown(customers_csv("id,name,email\na b,Ada,nobody\n"));
  ASSERT_THAT(several, SizeIs(3));
  EXPECT_THAT(several[1], HasSubstr("2 customer_id: must be"));
  EXPECT_THAT(several[2], HasSubstr("2 customer_email: "));
}

TEST_F(ImportsTest, AreRefusedAsAWholeWhenTheyCannotBeRead) {
  const auto csv = [&](const std::string& text) { return fault(ImportKind::customers, ImportFormat::csv, text); };
  EXPECT_THAT(csv(""), HasSubstr("line 1 must name the columns: customer_id, customer_name, customer_email"));
  EXPECT_EQ(csv("id,name\na,Ada\n"), "line 1 must have the column customer_email");
  EXPECT_THAT(csv("id,name,mail\n"), HasSubstr("must not have the column \"mail\"; columns are customer_id"));
  EXPECT_EQ(csv("id,name,customer_id,email\n"), "line 1 must not have the column customer_id twice");
  EXPECT_EQ(csv("id,name\xE9,email\na,Ada,ada@example.org\n"), "line 1 must be UTF-8");
  EXPECT_EQ(csv(std::string("\xFF\xFEi\0d\0", 6)), "line 1 must be UTF-8");
  EXPECT_THAT(csv("\"id,name,email\n"), HasSubstr("line 1 must close the quote"));
  EXPECT_EQ(customer("a").version, 0) << "nothing was taken";
}

TEST_F(ImportsTest, ALineThatIsNotUtf8CostsThatLineAlone) {
  EXPECT_THAT(shown(customers_csv("id,name,email\na,Ada,ada@example.org\nb,B\xE9,b@example.org\nc,C,c@example.org\n")),
              ElementsAre("2 taken, 0 unchanged, 1 refused", "3 customer_name: must be UTF-8"));
  const auto lines = customers_json(
      "{\"id\":\"d\",\"name\":\"\xE9\",\"email\":\"d@example.org\"}\n"
      "{\"id\":\"e\",\"name\":\"E\",\"email\":\"e@example.org\"}\n");
  EXPECT_THAT(shown(lines), ElementsAre("1 taken, 0 unchanged, 1 refused", "1 : must be UTF-8"));
}

TEST_F(ImportsTest, HaveLimits) {
  const std::string header = "id,name,email\n";
  const std::string full = header + std::string(Imports::max_bytes - header.size(), 'x');
  EXPECT_THAT(shown(customers_csv(full)),
              ElementsAre("0 taken, 0 unchanged, 1 refused", "2 : must not be longer than 16384 bytes"));
  EXPECT_EQ(fault(ImportKind::customers, ImportFormat::csv, full + "x"), "body must not be longer than 20971520 bytes");
  std::string many = header;
  for (int i = 0; i < Imports::max_lines; ++i) many += "x\n";
  EXPECT_THAT(read_import(ImportKind::customers, ImportFormat::csv, many).value(), SizeIs(Imports::max_lines));
  EXPECT_EQ(fault(ImportKind::customers, ImportFormat::csv, many + "x\n"), "body must not have more than 100000 lines");
  EXPECT_EQ(fault(ImportKind::customers, ImportFormat::json_lines, many + "x\n"),
            "body must not have more than 100000 lines");
}

TEST_F(ImportsTest, TakeInvoices) {
  customers_csv("id,name,email\na,Ada,ada@example.org\n");
  EXPECT_THAT(
      shown(invoices_csv("customer_id,invoice_id,amount,currency,due_date,paid,paid_at\n"
                         "a,1,1500.00,EUR,2025-12-31,,\n"
                         "a,2,10,JPY,2025-12-31,5,\n"
                         "a,3,10.00,EUR,2025-12-01,,2025-12-09\n"
                         "a,4,10.00,EUR,2025-12-01,10.00,2025-12-08T23:59:59Z\n"
                         "nobody,5,10.00,EUR,2025-12-01,,\n"
                         "a,6,\"10,00\",EUR,2025-12-01,,\n"
                         "a,7,10.00,eur,2025-12-01,,\n"
                         "a,8,10.00,EUR,01.12.2025,,\n"
                         "a,9,,EUR,2025-12-01,,\n"
                         "a,10,10.00,EUR,2025-12-01,1.001,\n"
                         "a,11,10.00,EUR,2025-12-01,,yesterday\n"
                         "a,13,10.00,EUR,2025-12-01,10.01,\n"
                         "a,14,10.00,EUR,1969-12-31,,\n")),
      ElementsAre("4 taken, 0 unchanged, 9 refused", "6 customer_id: there is no customer nobody",
                  "7 amount: must be a decimal such as 1500.00, not negative and without other signs",
                  HasSubstr("8 currency: must be"), "9 due_date: must be a day such as 2026-11-15, and not before 1970",
                  "10 amount: is required", HasSubstr("11 paid: must not have more than 2 decimals"),
                  "12 paid_at: must be a day or a time, such as 2026-11-15T09:30:00Z",
                  "13 paid: must not be more than the amount, 10.00 EUR",
                  "14 due_date: must be a day such as 2026-11-15, and not before 1970"));
  EXPECT_EQ(invoice("1").left().text(), "1500.00 EUR");
  EXPECT_EQ(invoice("2").left().text(), "5 JPY");
  EXPECT_EQ(invoice("3").paid_at, base::parse_timestamp("2025-12-09T00:00:00Z").value());
  EXPECT_EQ(customer("a").late_payments, 1);
  invoices_csv("customer_id,id,amount,currency,due_date,paid\na,12,10.00,EUR,2025-01-01,10.00\n");
  EXPECT_TRUE(invoice("12").is_paid());
  EXPECT_EQ(customer("a").late_payments, 1) << "nobody says when it was paid";
  EXPECT_THAT(shown(invoices_csv("customer_id,id,amount,currency,due_date\na,1,1500,EUR,2025-12-31\n"
                                 "a,3,10,EUR,2025-12-01\na,3,11,EUR,2025-12-01\n")),
              ElementsAre("0 taken, 2 unchanged, 1 refused",
                          "4 invoice_id: the invoice 3 is paid, and can no longer be changed"));
}

// In whichever order files tell it.
TEST_F(ImportsTest, TheDayOfAPaymentMayFollow) {
  customers_csv("id,name,email\na,Ada,ada@example.org\n");
  const std::string header = "customer_id,id,amount,currency,due_date,paid,paid_at\n";
  invoices_csv(header + "a,1,10.00,EUR,2025-12-01,10.00,\na,2,10.00,EUR,2025-12-01,10.00,2025-12-20\n");
  EXPECT_TRUE(invoice("1").is_paid());
  EXPECT_EQ(invoice("1").known_paid_at(), std::nullopt);
  EXPECT_EQ(customer("a").late_payments, 1);
  EXPECT_THAT(exported(ImportKind::invoices, ImportFormat::csv), HasSubstr("a,1,10.00,EUR,2025-12-01,10.00,\r\n"));
  EXPECT_THAT(shown(invoices_csv(header + "a,1,10.00,EUR,2025-12-01,10.00,2025-12-20\n"
                                          "a,2,10.00,EUR,2025-12-01,10.00,\n")),
              ElementsAre("1 taken, 1 unchanged, 0 refused"));
  EXPECT_EQ(invoice("1").known_paid_at(), invoice("2").known_paid_at());
  EXPECT_EQ(customer("a").late_payments, 2);
  EXPECT_THAT(shown(invoices_csv(header + "a,1,10.00,EUR,2025-12-01,10.00,2025-12-20T09:00:00Z\n")),
              ElementsAre("0 taken, 1 unchanged, 0 refused"))
      << "the same day";
}

TEST_F(ImportsTest, WhatWouldTakeAPaymentBackIsRefused) {
  customers_csv("id,name,email\na,Ada,ada@example.org\n");
  const std::string header = "customer_id,id,amount,currency,due_date,paid,paid_at\n";
  invoices_csv(header + "a,1,10.00,EUR,2025-12-01,10.00,2025-12-02\na,2,10.00,EUR,2025-12-01,4.00,\n");
  EXPECT_THAT(shown(invoices_csv(header + "a,1,10.00,EUR,2025-12-01,,2025-12-20\n"
                                          "a,1,10.00,EUR,2025-12-01,0,\n"
                                          "a,1,10.00,EUR,2025-12-01,9.99,\n"
                                          "a,2,10.00,EUR,2025-12-01,3.99,\n"
                                          "a,2,10.00,EUR,2025-12-01,,\n")),
              ElementsAre("0 taken, 1 unchanged, 4 refused",
                          "2 paid_at: must stay 2025-12-02T00:00:00.000Z, because the invoice is paid, and can no "
                          "longer be changed",
                          "3 paid: must not be less than what is paid already, 10.00 EUR",
                          "4 paid: must not be less than what is paid already, 10.00 EUR",
                          "5 paid: must not be less than what is paid already, 4.00 EUR"));
  EXPECT_EQ(invoice("1").known_paid_at(), base::parse_timestamp("2025-12-02T00:00:00Z").value());
  EXPECT_EQ(customer("a").late_payments, 0);
}

TEST_F(ImportsTest, TakeJsonLines) {
  EXPECT_THAT(shown(customers_json("\xEF\xBB\xBF"
                                   "{\"customer_id\":\"a\",\"customer_name\":\"Ada \\\"{{x}}\\\" <b>\","
                                   "\"customer_email\":\"ada@example.org\"}\r\n"
                                   "\n"
                                   "{\"id\":\"b\",\"name\":\"Bea\",\"email\":\"b@example.org\",\"opted_out\":true}\n"
                                   "{\"id\":\"c\",\"name\":\"Cy\"}\n"
                                   "{\"id\":\"d\",\n"
                                   "[1]\n"
                                   "{\"id\":\"e\",\"name\":\"E\",\"mail\":\"e@example.org\"}\n"
                                   "{\"id\":\"f\",\"name\":[\"F\"],\"email\":\"f@example.org\"}\n"
                                   "{\"id\":\"g\",\"customer_id\":\"h\",\"name\":\"G\",\"email\":\"g@example.org\"}")),
              ElementsAre("2 taken, 0 unchanged, 6 refused", "4 customer_email: is required",
                          "5 : must be JSON; it ends too early, in column 11", "6 : must be a JSON object",
                          HasSubstr("7 mail: is not known"), HasSubstr("8 name: must be a string"),
                          "9 customer_id: must not occur twice"));
  EXPECT_EQ(customer("a").name, "Ada \"{{x}}\" <b>");
  EXPECT_TRUE(customer("b").opted_out);
  EXPECT_THAT(
      shown(invoices_json("{\"customer_id\":\"a\",\"id\":\"1\",\"amount\":\"0.10\",\"currency\":\"EUR\","
                          "\"due_date\":\"2025-12-01\",\"paid\":null}\n"
                          "{\"customer_id\":\"a\",\"id\":2,\"amount\":1500.10,\"currency\":\"EUR\","
                          "\"due_date\":\"2025-12-01\"}\n"
                          "{\"customer_id\":\"a\",\"id\":\"3\",\"amount\":123456789012345.67,\"currency\":\"EUR\","
                          "\"due_date\":\"2025-12-01\"}\n"
                          "{\"customer_id\":\"a\",\"id\":\"4\",\"amount\":-5,\"currency\":\"EUR\","
                          "\"due_date\":\"2025-12-01\"}\n")),
      ElementsAre("2 taken, 0 unchanged, 2 refused",
                  "3 amount: must be a string, because numbers of JSON are not exact",
                  HasSubstr("4 amount: must be a decimal")));
  EXPECT_EQ(invoice("2").amount.text(), "1500.10 EUR");
  EXPECT_THAT(shown(customers_json("{\"id\":\"" + std::string(20'000, 'x') + "\"}\n")),
              ElementsAre("0 taken, 0 unchanged, 1 refused", "1 : must not be longer than 16384 bytes"));
}

TEST_F(ImportsTest, LinesOfOneCustomerAreTakenInTheirOrder) {
  std::string text = "id,name,email\n";
  for (int i = 0; i < 50; ++i) text += "a,Ada " + std::to_string(i) + ",ada@example.org\n";
  EXPECT_THAT(shown(customers_csv(text)), ElementsAre("50 taken, 0 unchanged, 0 refused"));
  EXPECT_EQ(customer("a").name, "Ada 49");
}

TEST_F(ImportsTest, WhatIsExportedHasNoFormulasAndCanBeImported) {
  customers_json(
      "{\"id\":\"+a\",\"name\":\"=HYPERLINK(\\\"http://evil.example\\\")\",\"email\":\"a@example.org\"}\n"
      "{\"id\":\"b\",\"name\":\"'=1, \\\"x\\\"\",\"email\":\"b@example.org\",\"opted_out\":\"true\"}\n"
      "{\"id\":\"c\",\"name\":\"@SUM\",\"email\":\"c@example.org\"}\n");
  invoices_json(
      "{\"customer_id\":\"b\",\"id\":\"-1\",\"amount\":\"7.50\",\"currency\":\"EUR\","
      "\"due_date\":\"2025-12-01\",\"paid_at\":\"2025-12-02\"}\n"
      "{\"customer_id\":\"c\",\"id\":\"2\",\"amount\":\"8\",\"currency\":\"EUR\",\"due_date\":\"2025-12-01\","
      "\"paid\":\"1\"}\n");
  const std::string csv = exported(ImportKind::customers, ImportFormat::csv);
  EXPECT_EQ(csv,
            "customer_id,customer_name,customer_email,opted_out\r\n"
            "'+a,\"'=HYPERLINK(\"\"http://evil.example\"\")\",a@example.org,false\r\n"
            "b,\"''=1, \"\"x\"\"\",b@example.org,true\r\n"
            "c,'@SUM,c@example.org,false\r\n");
  EXPECT_THAT(shown(customers_csv(csv)), ElementsAre("0 taken, 3 unchanged, 0 refused"));
  const std::string invoices = exported(ImportKind::invoices, ImportFormat::csv, 1);
  EXPECT_EQ(invoices,
            "customer_id,invoice_id,amount,currency,due_date,paid,paid_at\r\n"
            "b,'-1,7.50,EUR,2025-12-01,7.50,2025-12-02T00:00:00.000Z\r\n"
            "c,2,8.00,EUR,2025-12-01,1.00,\r\n");
  EXPECT_THAT(shown(invoices_csv(invoices)), ElementsAre("0 taken, 2 unchanged, 0 refused"));

  CustomersEnvironment other;
  Imports imports(other.customers());
  for (const ImportKind kind : {ImportKind::customers, ImportKind::invoices}) {
    const std::string lines = exported(kind, ImportFormat::json_lines);
    const auto report = imports.run(kind, ImportFormat::json_lines, lines, test_actor);
    ASSERT_TRUE(succeeded(report));
    EXPECT_EQ(report->refused, 0) << lines;
    EXPECT_EQ(exported_from(imports, kind, ImportFormat::csv), kind == ImportKind::customers ? csv : invoices);
  }
}

TEST_F(ImportsTest, LinesThatTheStoreDoesNotTakeAreRefused) {
  FailingStore failing(store_.engine());
  ReminderStore records(failing, {}, Rules::usual(), store_.time(), store_.random(), store_.retry());
  Customers customers(records);
  Imports imports(customers);
  std::string text = "id,name,email\n";
  for (int i = 0; i < 200; ++i) text += std::to_string(i) + ",Name,a@example.org\n";
  failing.fail_at(21, WriteFault::ended_before);
  const auto report = imports.run(ImportKind::customers, ImportFormat::csv, text, test_actor);
  ASSERT_TRUE(succeeded(report));
  EXPECT_EQ(report->taken, 20);
  EXPECT_EQ(report->refused, 180);
  ASSERT_THAT(report->lines, SizeIs(180));
  EXPECT_TRUE(std::ranges::is_sorted(report->lines, {}, &RefusedLine::line));
  EXPECT_THAT(report->lines.back().rule, HasSubstr("the store failed"));
  const auto again = imports_.run(ImportKind::customers, ImportFormat::csv, text, test_actor);
  ASSERT_TRUE(succeeded(again));
  EXPECT_EQ(again->taken, 180);
  EXPECT_EQ(again->unchanged, 20);
}

TEST_F(ImportsTest, ConcurrentSystemsWithTheSameInvoicesStoreThemOnce) {
  std::string customers = "id,name,email\n", invoices = "customer_id,id,amount,currency,due_date,paid_at\n";
  const int count = 20 + base::volume(100);
  for (int i = 0; i < count; ++i) {
    const std::string id = std::to_string(i % 7);
    if (i < 7) customers += id + ",Name,a@example.org\n";
    invoices += id + "," + std::to_string(i) + ",10.00,EUR,2025-12-01," + (i % 2 == 0 ? "2025-12-20" : "") + "\n";
  }
  customers_csv(customers);
  std::atomic<int> taken = 0, unchanged = 0;
  base::run_threads(2, [&](int) {
    const auto report = imports_.run(ImportKind::invoices, ImportFormat::csv, invoices, test_actor);
    ASSERT_TRUE(succeeded(report));
    EXPECT_THAT(report->lines, IsEmpty());
    taken += report->taken;
    unchanged += report->unchanged;
  });
  EXPECT_EQ(taken, count);
  EXPECT_EQ(unchanged, count);
  std::int64_t late = 0;
  for (int i = 0; i < 7; ++i) late += customer(std::to_string(i)).late_payments;
  EXPECT_EQ(late, (count + 1) / 2) << "each late payment counts once";
}

}  // namespace
}  // namespace postino::reminders
