#include "mails.h"

#include <array>
#include <atomic>
#include <cstdio>

#include "base/check.h"
#include "item/size.h"

namespace postino::bench {

namespace {

constexpr std::int64_t first_second = 1'767'323'045;

// Puts consecutive numbers far apart.
std::uint64_t scatter(std::uint64_t number) {
  number = (number ^ (number >> 30)) * 0xbf58476d1ce4e5b9;
  number = (number ^ (number >> 27)) * 0x94d049bb133111eb;
  return number ^ (number >> 31);
}

std::string make_text(std::size_t size) {
  constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text(size, ' ');
  for (std::size_t i = 0; i < size; ++i) text[i] = letters[scatter(i) % letters.size()];
  return text;
}

std::string numbered(char prefix, std::uint64_t number) {
  std::array<char, 24> text{};
  const int length =
      std::snprintf(text.data(), text.size(), "%c-%016llx", prefix, static_cast<unsigned long long>(number));
  return {text.data(), static_cast<std::size_t>(length)};
}

}  // namespace

std::string mail_id(std::uint64_t number) { return numbered('m', scatter(number + 1)); }

std::string conversation_id(std::uint64_t conversation) { return numbered('c', scatter(conversation + 1)); }

std::string_view mail_body(std::uint64_t number) {
  static const std::string text = make_text(1 << 20);
  return std::string_view(text).substr(scatter(number) % (text.size() - body_size), body_size);
}

item::Item make_mail(std::uint64_t number) {
  item::Item mail{{"Body", ""},      {"Conversation", ""}, {"CreatedAt", 0}, {"Id", ""},
                  {"Recipient", ""}, {"Status", "READY"},  {"Subject", ""},  {"UpdatedAt", 0}};
  become_mail(mail, number);
  mail.set("Subject", std::string(mail_size - item::size_of(mail), 's'));
  CHECK(item::size_of(mail) == mail_size);
  return mail;
}

void become_mail(item::Item& mail, std::uint64_t number) {
  const std::int64_t second = first_second + static_cast<std::int64_t>(number % 10'000'000);
  mail.find("Body")->as<std::string>() = mail_body(number);
  mail.find("Conversation")->as<std::string>() = conversation_id(number / mails_per_conversation);
  mail.find("CreatedAt")->as<item::Number>() = item::Number(second);
  mail.find("Id")->as<std::string>() = mail_id(number);
  mail.find("Recipient")->as<std::string>() = numbered('r', scatter(number) % 10'000);
  mail.find("UpdatedAt")->as<item::Number>() = item::Number(second);
}

RandomNumbers::RandomNumbers() {
  static std::atomic<std::uint64_t> objects = 0;
  state_ = ++objects << 32;
}

std::uint64_t RandomNumbers::next() { return scatter(++state_); }

}  // namespace postino::bench
