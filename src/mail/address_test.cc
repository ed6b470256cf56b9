#include "mail/address.h"

#include <gtest/gtest.h>

#include "mail/address_syntax.h"

namespace postino::mail {
namespace {

std::string rule_of(std::string_view text) {
  const auto mailbox = parse_mailbox(text);
  if (mailbox) return "accepted: " + mailbox->address;
  EXPECT_EQ(mailbox.error().code, base::ErrorCode::invalid);
  return mailbox.error().message;
}

Mailbox parsed_mailbox(std::string_view text) {
  auto mailbox = parse_mailbox(text);
  EXPECT_TRUE(mailbox) << text << ": " << mailbox.error().message;
  return mailbox.value_or(Mailbox{});
}

TEST(ParseMailbox, TakesAnAddressAloneOrWithAName) {
  EXPECT_EQ(parsed_mailbox("ann@example.com"), (Mailbox{"", "ann@example.com"}));
  EXPECT_EQ(parsed_mailbox("<ann@example.com>"), (Mailbox{"", "ann@example.com"}));
  EXPECT_EQ(parsed_mailbox("  Ann Example   <ann@example.com> "), (Mailbox{"Ann Example", "ann@example.com"}));
  EXPECT_EQ(parsed_mailbox("Ann E. Example<ann@example.com>"), (Mailbox{"Ann E. Example", "ann@example.com"}));
  EXPECT_EQ(parsed_mailbox("Zoë Müller 😀 <zoe@example.com>"), (Mailbox{"Zoë Müller 😀", "zoe@example.com"}));
}

TEST(ParseMailbox, TakesQuotesOffTheName) {
  EXPECT_EQ(parsed_mailbox(R"("Example, Ann" <ann@example.com>)").name, "Example, Ann");
  EXPECT_EQ(parsed_mailbox(R"("Ann \"the\\boss\" (1) @ <x>" <ann@example.com>)").name, R"(Ann "the\boss" (1) @ <x>)");
  EXPECT_EQ(parsed_mailbox(R"("" <ann@example.com>)").name, "");
  EXPECT_EQ(parsed_mailbox(R"(Dr. "O'Hara, Pat" <pat@example.com>)").name, "Dr. O'Hara, Pat");
}

TEST(ParseMailbox, TakesEveryLocalPartOfTheStandard) {
  for (const std::string_view address :
       {"a@b", "a.b.c@example.com", "!#$%&'*+-/=?^_`{|}~@example.com", "user+tag@example.com", "1@example.com",
        R"("a b"@example.com)", R"("a@b"@example.com)", R"("a\"b\\"@example.com)", R"("a>b"@example.com)",
        R"(""@example.com)", "用户@example.com"})
    EXPECT_EQ(parsed_mailbox(address).address, address);
  EXPECT_EQ(parsed_mailbox(R"(Ann <"a>b"@example.com>)").address, R"("a>b"@example.com)");
}

TEST(ParseMailbox, TakesDomainsOfAllKinds) {
  for (const std::string_view address :
       {"a@localhost", "a@EXAMPLE.com", "a@x-1.example", "a@bücher.example", "a@例子.广告", "a@xn--bcher-kva.example",
        "a@[192.0.2.1]", "a@[IPv6:2001:db8::1]", "a@[ipv6:::1]", "a@[IPv6:::ffff:192.0.2.1]"})
    EXPECT_EQ(parsed_mailbox(address).address, address);
}

TEST(ParseMailbox, NamesTheRuleThatIsBroken) {
  EXPECT_EQ(rule_of(""), "must have an address");
  EXPECT_EQ(rule_of("   "), "must have an address");
  EXPECT_EQ(rule_of("Ann <>"), "must have an address");
  EXPECT_EQ(rule_of("ann"), "must have an @");
  EXPECT_EQ(rule_of("Ann Example <ann>"), "must have an @");
  EXPECT_EQ(rule_of(R"("ann"example.com)"), "must have an @");
  EXPECT_EQ(rule_of(R"("ann@example.com)"), "must have a closing quote");
  EXPECT_EQ(rule_of(R"("Ann <ann@example.com>)"), "must have a closing quote after the name");
  EXPECT_EQ(rule_of("ann@example.com>"), "must have the name in quotes if it contains '@'");
  EXPECT_EQ(rule_of("ann>"), "must have the name in quotes if it contains '>'");
  EXPECT_EQ(rule_of("@example.com"), "must have a local part before the @, and no route");
  EXPECT_EQ(rule_of("<@relay.example,@b.example:ann@example.com>"),
            "must have a local part before the @, and no route");
  EXPECT_EQ(rule_of("ann@"), "must have a domain after the @");
  EXPECT_EQ(rule_of("ann@b@example.com"), "must have only one @");
  EXPECT_EQ(rule_of("ann@example.com, bob@example.com"), "must be only one address");
  EXPECT_EQ(rule_of("ann@example.com; bob@example.com"), "must be only one address");
  for (const std::string_view text : {".a@example.com", "a.@example.com", "a..b@example.com"})
    EXPECT_EQ(rule_of(text), "must not begin or end with a dot, or have two in a row, before the @") << text;
}

TEST(ParseMailbox, HasNoCommentsAndNoGroups) {
  EXPECT_EQ(rule_of("Ann (Sales) <ann@example.com>"), "must have the name in quotes if it contains '('");
  EXPECT_EQ(rule_of("ann(work)@example.com"), "must not contain '(' before the @ outside of quotes");
  EXPECT_EQ(rule_of("Team: ann@example.com;"), "must not contain ':' before the @ outside of quotes");
  EXPECT_EQ(rule_of("Example, Ann <ann@example.com>"), "must have the name in quotes if it contains ','");
  EXPECT_EQ(rule_of("Ann <ann@example.com> <bob@example.com>"), "must be only one address");
}

TEST(ParseMailbox, RefusesDomainsThatDnsCannotHave) {
  EXPECT_EQ(rule_of("a@example..com"), "must not have an empty label in the domain");
  EXPECT_EQ(rule_of("a@.com"), "must not have an empty label in the domain");
  EXPECT_EQ(rule_of("a@example.com."), "must not have an empty label in the domain");
  EXPECT_EQ(rule_of("a@-b.com"), "must not have a label that begins or ends with a hyphen in the domain");
  EXPECT_EQ(rule_of("a@b-.com"), "must not have a label that begins or ends with a hyphen in the domain");
  for (const std::string_view text : {"a@b_c.com", "a@b c.com", "a@b.com (x)", "a@b/c", "a@b:25"})
    EXPECT_EQ(rule_of(text), "must have only letters, digits, hyphens and dots in the domain") << text;
  for (const std::string_view text : {"a@[]", "a@[192.0.2]", "a@[192.0.2.256]", "a@[2001:db8::1]", "a@[IPv6:]",
                                      "a@[IPv6:1::2::3]", "a@[localhost]", "a@[192.0.2.1", "a@[192.0.2.1]x"})
    EXPECT_EQ(rule_of(text), "must have an IP address, as in [192.0.2.1] or [IPv6:2001:db8::1], within the brackets")
        << text;
}

TEST(ParseMailbox, HasTheLengthsOfTheStandard) {
  const std::string label(63, 'b');
  EXPECT_EQ(parsed_mailbox(std::string(64, 'a') + "@example.com").address.size(), 76U);
  EXPECT_EQ(rule_of(std::string(65, 'a') + "@example.com"), "must have at most 64 bytes before the @");
  EXPECT_EQ(rule_of("\"" + std::string(63, 'a') + "\"@example.com"), "must have at most 64 bytes before the @");
  EXPECT_EQ(parsed_mailbox("a@" + label + ".com").address.size(), 69U);
  EXPECT_EQ(rule_of("a@" + label + "b.com"), "must have labels of at most 63 bytes in the domain");

  const std::string longest = std::string(62, 'a') + "@" + label + "." + label + "." + std::string(63, 'c');
  ASSERT_EQ(longest.size(), 254U);
  EXPECT_EQ(parsed_mailbox(longest).address, longest);
  EXPECT_EQ(rule_of("a" + longest), "must have at most 254 bytes in the address");

  EXPECT_EQ(parsed_mailbox(std::string(512, 'n') + " <a@b>").name.size(), 512U);
  EXPECT_EQ(rule_of(std::string(513, 'n') + " <a@b>"), "must have at most 512 bytes in the name");
}

TEST(ParseMailbox, LetsNothingEndALine) {
  const std::string rule = "must not contain line ends or other control characters";
  for (const std::string& bad :
       {std::string("\r"), std::string("\n"), std::string("\r\n"), std::string(1, '\0'), std::string("\t"),
        std::string("\x7F"), std::string("\x1B"), std::string("\xC2\x85")}) {
    EXPECT_EQ(rule_of("Ann" + bad + "Bcc: x <ann@example.com>"), rule);
    EXPECT_EQ(rule_of("\"Ann" + bad + "\" <ann@example.com>"), rule);
    EXPECT_EQ(rule_of("ann@example.com" + bad), rule);
    EXPECT_EQ(rule_of("\"a" + bad + "b\"@example.com"), rule);
  }
}

TEST(ParseMailbox, RefusesWhatIsNotUtf8AndWhatCannotBeSeen) {
  for (const std::string_view bad : {"\xFF", "\xC3", "\xC0\xAF", "\xED\xA0\x80", "\xF4\x90\x80\x80"}) {
    EXPECT_EQ(rule_of("Ann" + std::string(bad) + " <ann@example.com>"), "must be UTF-8");
    EXPECT_EQ(rule_of("ann" + std::string(bad) + "@example.com"), "must be UTF-8");
  }
  for (const std::string_view bad : {"\u00A0", "\u200B", "\u202E", "\u3000"})
    EXPECT_EQ(rule_of("ann" + std::string(bad) + "@example.com"),
              "must not contain invisible characters in the address");
}

TEST(DomainOf, IsInLowerCase) {
  EXPECT_EQ(domain_of("Ann@Example.COM"), "example.com");
  EXPECT_EQ(domain_of(R"("a@b"@Example.com)"), "example.com");
  EXPECT_EQ(domain_of("a@[192.0.2.1]"), "[192.0.2.1]");
}

TEST(IsAscii, LooksAtEveryByte) {
  EXPECT_TRUE(is_ascii(""));
  EXPECT_TRUE(is_ascii("ann@example.com\x7F"));
  EXPECT_FALSE(is_ascii("ann@bücher.example"));
}

TEST(ToAsciiAddress, GivesTheDomainItsFormInDns) {
  EXPECT_EQ(to_ascii_address("ann@example.com").value(), "ann@example.com");
  EXPECT_EQ(to_ascii_address("ann@bücher.example").value(), "ann@xn--bcher-kva.example");
  EXPECT_EQ(to_ascii_address("ann@faß.example").value(), "ann@xn--fa-hia.example");
}

TEST(ToAsciiAddress, HasNoFormForALocalPartBeyondAscii) {
  EXPECT_EQ(to_ascii_address("zoë@example.com").error().message, "must be ASCII before the @ to stand in a header");
}

TEST(Address, MessagesWithAddressesBeyondAsciiAreKnown) {
  EXPECT_TRUE(has_international_address("Subject: x\r\nTo: a@b.example,\r\n J <j\u00f6rg@b.example>\r\n\r\nb"));
  EXPECT_FALSE(has_international_address("From: J\u00f6rg <j@b.example>\r\n\r\nb")) << "only its name";
  EXPECT_TRUE(has_international_address("From: \"j\u00f6 <r>, g\"@b.example\r\n\r\nb")) << "in quotes";
  EXPECT_FALSE(has_international_address("Subject: j\u00f6rg@b.example\r\nTo: a@b.example\r\n\r\nb"));
  EXPECT_FALSE(has_international_address("To: a@b.example\r\n\r\nTo: j\u00f6rg@b.example")) << "that is text";
}

TEST(Address, ALocalPartBeyondAsciiStaysInHeaders) {
  EXPECT_EQ(to_header_address("j\u00f6rg@b\u00fccher.example").value(), "j\u00f6rg@b\u00fccher.example");
  EXPECT_EQ(to_header_address("ann@b\u00fccher.example").value(), "ann@xn--bcher-kva.example");
}

TEST(Addresses, AreTheSameHoweverTheyAreWritten) {
  for (const char* const way :
       {"ada@müller.example", "Ada@MÜLLER.example", "ada@xn--mller-kva.example", "ADA@XN--MLLER-KVA.EXAMPLE"}) {
    EXPECT_EQ(comparable_address(way), "ada@xn--mller-kva.example") << way;
    EXPECT_TRUE(is_same_address(way, "ada@müller.example")) << way;
    EXPECT_FALSE(is_same_address(way, "ada@muller.example")) << way;
  }
  EXPECT_EQ(comparable_address("zoë@Bücher.example"), "zoë@xn--bcher-kva.example");
  EXPECT_EQ(comparable_address("@Bücher.example"), "@xn--bcher-kva.example") << "all of a domain, in a filter";
  EXPECT_EQ(comparable_address("no address, müller"), "no address, müller");
  EXPECT_FALSE(is_same_address("a@b.example", "b@b.example"));
}

}  // namespace
}  // namespace postino::mail
