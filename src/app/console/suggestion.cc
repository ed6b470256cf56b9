#include "app/console/suggestion.h"

#include <algorithm>

namespace postino::app {

namespace {

// How many letters must be added, removed, replaced or swapped with their neighbour.
std::size_t letters_apart(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> table(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) table[i][0] = i;
  for (std::size_t j = 0; j <= b.size(); ++j) table[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i)
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = table[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      table[i][j] = std::min({table[i - 1][j] + 1, table[i][j - 1] + 1, replaced});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        table[i][j] = std::min(table[i][j], table[i - 2][j - 2] + 1);
    }
  return table[a.size()][b.size()];
}

}  // namespace

std::string closest(std::string_view word, const std::vector<std::string>& known) {
  constexpr std::size_t longest = 100;
  if (word.size() > longest) return "";
  std::string found;
  std::size_t least = 1 + std::max<std::size_t>(1, word.size() / 4);  // others are too far away
  for (const std::string& each : known)
    if (const std::size_t away = letters_apart(word, each); away < least) {
      least = away;
      found = each;
    }
  return found;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& known) {
  const std::string found = closest(word, known);
  return found.empty() ? "" : "; did you mean " + found + "?";
}

}  // namespace postino::app
