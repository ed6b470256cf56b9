#include "reminders/text/diff.h"

#include <algorithm>
#include <optional>

namespace postino::reminders {

namespace {

constexpr int most_differences = 1'000;  // beyond, looking for the shortest way costs too much

using Lines = std::vector<std::string_view>;

Lines lines_of(std::string_view text) {
  Lines lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    lines.push_back(line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

void append(std::vector<DiffLine>& out, char sign, std::string_view line) { out.push_back({sign, std::string(line)}); }

// Myers' way: for each number of differences, how far each diagonal gets. The answer is the diff from the end to the
// beginning; nullopt when there are too many differences.
std::optional<std::vector<DiffLine>> shortest(const Lines& before, const Lines& after) {
  const int rows = static_cast<int>(before.size());
  const int columns = static_cast<int>(after.size());
  const int most = std::min(rows + columns, most_differences);
  const auto line = [](const Lines& lines, int at) { return lines[static_cast<std::size_t>(at)]; };
  // reached[d] has the rows that d differences reach on the diagonals -d to d.
  std::vector<std::vector<int>> reached;
  // The row from which diagonal k goes on with difference number d: one line of `after` more, or one of `before`.
  const auto begin_of = [&](int d, int k) {
    const std::vector<int>& last = reached[static_cast<std::size_t>(d - 1)];
    const auto row_on = [&](int diagonal) {
      return diagonal < -(d - 1) || diagonal > d - 1 ? -1 : last[static_cast<std::size_t>(diagonal + d - 1)];
    };
    const bool adds = k == -d || (k != d && row_on(k - 1) < row_on(k + 1));
    return std::pair(adds ? row_on(k + 1) : row_on(k - 1) + 1, adds);
  };

  int differences = 0;
  for (bool arrived = false; !arrived; ++differences) {
    if (differences > most) return std::nullopt;
    std::vector<int> rows_of(2 * static_cast<std::size_t>(differences) + 1, -1);
    for (int k = -differences; k <= differences && !arrived; k += 2) {
      int row = differences == 0 ? 0 : begin_of(differences, k).first;
      while (row < rows && row - k < columns && line(before, row) == line(after, row - k)) ++row;
      rows_of[static_cast<std::size_t>(k + differences)] = row;
      arrived = row >= rows && row - k >= columns;
    }
    reached.push_back(std::move(rows_of));
  }

  std::vector<DiffLine> backwards;
  int row = rows;
  int column = columns;
  for (int d = differences - 1; d >= 0; --d) {
    const auto [begin, adds] = d == 0 ? std::pair(0, false) : begin_of(d, row - column);
    while (row > begin) {
      append(backwards, ' ', line(before, --row));
      --column;
    }
    if (d == 0) break;
    if (adds)
      append(backwards, '+', line(after, --column));
    else
      append(backwards, '-', line(before, --row));
  }
  return backwards;
}

}  // namespace

std::vector<DiffLine> diff_lines(std::string_view before, std::string_view after) {
  Lines old_lines = lines_of(before);
  Lines new_lines = lines_of(after);
  std::vector<DiffLine> diff;
  const std::size_t shorter = std::min(old_lines.size(), new_lines.size());
  std::size_t same = 0;
  while (same < shorter && old_lines[same] == new_lines[same]) append(diff, ' ', old_lines[same++]);
  std::size_t same_end = 0;
  while (same_end < shorter - same &&
         old_lines[old_lines.size() - 1 - same_end] == new_lines[new_lines.size() - 1 - same_end])
    ++same_end;

  const Lines end(old_lines.end() - static_cast<std::ptrdiff_t>(same_end), old_lines.end());
  const auto middle_of = [&](const Lines& lines) {
    return Lines(lines.begin() + static_cast<std::ptrdiff_t>(same),
                 lines.end() - static_cast<std::ptrdiff_t>(same_end));
  };
  const Lines old_middle = middle_of(old_lines);
  const Lines new_middle = middle_of(new_lines);
  if (const auto backwards = shortest(old_middle, new_middle)) {
    diff.insert(diff.end(), backwards->rbegin(), backwards->rend());
  } else {
    for (const std::string_view line : old_middle) append(diff, '-', line);
    for (const std::string_view line : new_middle) append(diff, '+', line);
  }
  for (const std::string_view line : end) append(diff, ' ', line);
  return diff;
}

}  // namespace postino::reminders
