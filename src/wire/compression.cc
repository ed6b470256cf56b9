#include "wire/compression.h"

#include <zlib.h>

#include <algorithm>
#include <charconv>
#include <vector>

#include "base/check.h"
#include "base/text.h"

namespace postino::wire {

namespace {

// The largest window, and the header that the coding has.
int format_of(Coding coding) {
  constexpr int largest_window = 15;
  constexpr int gzip_header = 16;
  return coding == Coding::gzip ? largest_window + gzip_header : largest_window;
}

// zlib does not write where it reads.
Bytef* bytes_of(std::string_view text) {
  return reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));  // NOLINT
}

class Inflater {
 public:
  explicit Inflater(Coding coding) { ready_ = inflateInit2(&stream, format_of(coding)) == Z_OK; }
  ~Inflater() {
    if (ready_) inflateEnd(&stream);
  }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  bool ready() const { return ready_; }

  z_stream stream{};

 private:
  bool ready_ = false;
};

// A coding, or all that are not named, with the weight that a client gives them: "gzip;q=0.5".
struct Preference {
  std::string_view name;
  double weight = 1;
};

// What cannot be read, or is more than 1, counts as 1, and what is below 0 as 0.
double weight_of(std::string_view parameters) {
  while (!parameters.empty()) {
    const std::size_t end = std::min(parameters.find(';'), parameters.size());
    const std::string_view parameter = base::trim(parameters.substr(0, end));
    parameters.remove_prefix(std::min(end + 1, parameters.size()));
    const std::size_t equal = parameter.find('=');
    if (equal == std::string_view::npos || !base::equal_ignoring_case(base::trim(parameter.substr(0, equal)), "q"))
      continue;
    const std::string_view text = base::trim(parameter.substr(equal + 1));
    double weight = 1;
    const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), weight);
    if (error != std::errc() || rest != text.data() + text.size() || !(weight <= 1)) return 1;
    return std::max(weight, 0.0);
  }
  return 1;
}

Preference read_preference(std::string_view text) {
  const std::size_t end = std::min(text.find(';'), text.size());
  return {base::trim(text.substr(0, end)), weight_of(text.substr(std::min(end + 1, text.size())))};
}

}  // namespace

std::string_view coding_name(Coding coding) { return coding == Coding::gzip ? "gzip" : "deflate"; }

std::optional<Coding> find_coding(std::string_view name) {
  for (const Coding coding : {Coding::gzip, Coding::deflate})
    if (base::equal_ignoring_case(name, coding_name(coding))) return coding;
  return std::nullopt;
}

std::optional<Coding> accepted_coding(std::string_view header) {
  std::vector<std::pair<Coding, double>> accepted;
  std::optional<std::pair<std::size_t, double>> others;  // where "*" stands, and its weight
  while (!header.empty()) {
    const std::size_t end = std::min(header.find(','), header.size());
    const Preference preference = read_preference(header.substr(0, end));
    header.remove_prefix(std::min(end + 1, header.size()));
    if (const auto coding = find_coding(preference.name)) accepted.emplace_back(*coding, preference.weight);
    if (preference.name == "*" && !others) others.emplace(accepted.size(), preference.weight);
  }
  const auto is_named = [&](Coding coding) {
    return std::ranges::find(accepted, coding, [](const auto& each) { return each.first; }) != accepted.end();
  };
  if (others)
    for (const Coding coding : {Coding::gzip, Coding::deflate})
      if (!is_named(coding)) {
        accepted.emplace(accepted.begin() + static_cast<std::ptrdiff_t>(others->first), coding, others->second);
        break;
      }
  std::optional<Coding> best;
  double best_weight = 0;
  for (const auto& [coding, weight] : accepted)
    if (weight > best_weight) best = coding, best_weight = weight;
  return best;
}

std::string compress(std::string_view text, Coding coding) {
  constexpr int fast = 1;  // most of what can be saved is saved by it, in a third of the time
  constexpr int usual_memory = 8;
  z_stream stream{};
  CHECK(deflateInit2(&stream, fast, Z_DEFLATED, format_of(coding), usual_memory, Z_DEFAULT_STRATEGY) == Z_OK);
  std::string out(deflateBound(&stream, text.size()), '\0');
  stream.next_in = bytes_of(text);
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  CHECK(deflate(&stream, Z_FINISH) == Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

base::Result<std::string> decompress(std::string_view compressed, Coding coding, std::size_t limit) {
  constexpr std::size_t first_size = 16 << 10;
  Inflater inflater(coding);
  if (!inflater.ready()) return base::fail(base::ErrorCode::exhausted, "no memory to decompress");
  z_stream& stream = inflater.stream;
  stream.next_in = bytes_of(compressed);
  stream.avail_in = static_cast<uInt>(compressed.size());
  std::string out;
  std::size_t size = 0;
  int status = Z_OK;
  while (status == Z_OK) {
    // One byte more than allowed shows that there is too much.
    if (out.size() == size) out.resize(std::min(limit + 1, std::max(first_size, 2 * out.size())));
    stream.next_out = reinterpret_cast<Bytef*>(out.data() + size);
    stream.avail_out = static_cast<uInt>(out.size() - size);
    status = inflate(&stream, Z_NO_FLUSH);
    size = out.size() - stream.avail_out;
    if (size > limit) return base::fail(base::ErrorCode::exhausted, "too large");
    const bool has_more = status == Z_STREAM_END && stream.avail_in > 0 && coding == Coding::gzip;
    if (has_more) status = inflateReset(&stream);
  }
  if (status != Z_STREAM_END || stream.avail_in != 0 || size == 0)
    return base::fail(base::ErrorCode::malformed, "not compressed");
  out.resize(size);
  return out;
}

}  // namespace postino::wire
