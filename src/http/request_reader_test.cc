#include "http/request_reader.h"

#include <gmock/gmock.h>

namespace postino::http {
namespace {

using Progress = RequestReader::Progress;
using ::testing::ElementsAre;

// What came out of some input: requests in one line each, and the refusal that ended it.
std::vector<std::string> read_requests(RequestReader& reader, std::string_view input, std::size_t piece) {
  std::vector<std::string> found;
  while (!input.empty()) {
    Progress progress = reader.feed(input.substr(0, piece));
    input.remove_prefix(std::min(piece, input.size()));
    while (progress == Progress::complete) {
      const Request& request = reader.request();
      std::string line(request.method);
      line.append(" ").append(request.target).append(" ").append(request.body);
      for (const auto& [name, value] : request.headers) line.append("|").append(name).append("=").append(value);
      if (!reader.keep_alive()) line += "|(close)";
      found.push_back(line);
      progress = reader.next();
    }
    if (progress == Progress::refused) {
      found.push_back("refused " + std::to_string(reader.refusal()));
      return found;
    }
  }
  if (reader.started()) found.emplace_back("unfinished");
  return found;
}

class RequestReaderTest : public ::testing::Test {
 protected:
  // Reads the input whole, and cut into pieces of every size: the result must be the same.
  std::vector<std::string> read_requests(std::string_view input) {
    const auto whole = read_in_pieces(input, input.size());
    for (std::size_t piece = 1; piece < std::min<std::size_t>(input.size(), 200); ++piece)
      EXPECT_EQ(read_in_pieces(input, piece), whole) << "in pieces of " << piece;
    EXPECT_EQ(budget->taken(), 0U);
    return whole;
  }

  std::vector<std::string> read_in_pieces(std::string_view input, std::size_t piece) {
    RequestReader reader(limits, budget);
    return http::read_requests(reader, input, piece);
  }

  RequestLimits limits{.header_bytes = 300, .body_bytes = 50};
  std::shared_ptr<BodyBudget> budget = std::make_shared<BodyBudget>(1000);
};

TEST_F(RequestReaderTest, ReadsOneRequest) {
  EXPECT_THAT(read_requests("GET / HTTP/1.1\r\nHost: a\r\n\r\n"), ElementsAre("GET / |Host=a"));
  EXPECT_THAT(read_requests("POST /a?b=c HTTP/1.1\r\nhost:a\r\nX-Empty:\r\nContent-Length: 5\r\n\r\nhello"),
              ElementsAre("POST /a?b=c hello|host=a|X-Empty=|Content-Length=5"));
}

TEST_F(RequestReaderTest, ReadsRequestsSentAhead) {
  EXPECT_THAT(
      read_requests("POST /1 HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\noneGET /2 HTTP/1.1\r\nHost: a\r\n\r\n"
                    "POST /3 HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nthree\r\n0\r\n\r\n"
                    "GET /4 HTTP/1.1\r\nHost: a\r\n\r\nGET /5"),
      ElementsAre("POST /1 one|Host=a|Content-Length=3", "GET /2 |Host=a",
                  "POST /3 three|Host=a|Transfer-Encoding=chunked", "GET /4 |Host=a", "unfinished"));
}

TEST_F(RequestReaderTest, ReadsChunks) {
  EXPECT_THAT(read_requests("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: Chunked\r\n\r\n"
                            "5;name=value\r\nhello\r\nB\r\n, it is me.\r\n0\r\nX-Trailer: 1\r\nHost: evil\r\n\r\n"),
              ElementsAre("POST / hello, it is me.|Host=a|Transfer-Encoding=Chunked"))
      << "what trails the body is not among the headers";
}

TEST_F(RequestReaderTest, IsStrictAboutChunks) {
  const auto chunked = [this](const std::string& body) {
    return read_requests("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n" + body);
  };
  const std::string accepted = "POST / a|Host=a|Transfer-Encoding=chunked";
  EXPECT_THAT(chunked("0001 \t;x=y\r\na\r\n0;z\r\n\r\n"), ElementsAre(accepted));
  EXPECT_THAT(chunked("1;x=\"unfinished\r\na\r\n0\r\n\r\n"), ElementsAre(accepted)) << "lines end extensions";
  EXPECT_THAT(chunked("0\r\n\r\n"), ElementsAre("POST / |Host=a|Transfer-Encoding=chunked"));
  for (const std::string size : {"", " 1", "+1", "-1", "0x1", "1 1", "1,", "1;\n", "1;\r", "1\n", "g"})
    EXPECT_THAT(chunked(size + "\r\na\r\n0\r\n\r\n"), ElementsAre("refused 400")) << size;
  EXPECT_THAT(chunked("10000000000000001\r\na\r\n0\r\n\r\n"), ElementsAre("refused 413"));
  EXPECT_THAT(chunked("1\r\na0\r\n\r\n"), ElementsAre("refused 400"));
  EXPECT_THAT(chunked("1\r\na\n0\r\n\r\n"), ElementsAre("refused 400"));
  EXPECT_THAT(chunked("0\r\nX: y\nZ\r\n\r\n"), ElementsAre("refused 400"));
}

TEST_F(RequestReaderTest, IgnoresLineEndsBeforeARequest) {
  EXPECT_THAT(read_requests("\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n\r\n"), ElementsAre("GET / |Host=a"));
}

TEST_F(RequestReaderTest, TrimsValuesAndJoinsFoldedLines) {
  EXPECT_THAT(read_requests("GET / HTTP/1.1\r\nHost:  a \t\r\nX-Folded: b\r\n  c\r\n\r\n"),
              ElementsAre("GET / |Host=a|X-Folded=b c"));
}

TEST_F(RequestReaderTest, KnowsWhetherTheConnectionGoesOn) {
  EXPECT_THAT(read_requests("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"),
              ElementsAre("GET / |Host=a|Connection=close|(close)"));
  EXPECT_THAT(read_requests("GET / HTTP/1.0\r\n\r\n"), ElementsAre("GET / |(close)"));
  EXPECT_THAT(read_requests("GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n"),
              ElementsAre("GET / |Connection=Keep-Alive"));
}

TEST_F(RequestReaderTest, RefusesWhatIsNotHttp) {
  EXPECT_THAT(read_requests("hello\r\n\r\n"), ElementsAre("refused 400"));
  EXPECT_THAT(read_requests("GET / HTTP/1.1\r\nHost a\r\n\r\n"), ElementsAre("refused 400"));
  EXPECT_THAT(read_requests("GET / HTTP/1.1\r\nHost : a\r\n\r\n"), ElementsAre("refused 400"));
  EXPECT_THAT(read_requests("GET / HTTP/1.1\nHost: a\r\n\r\n"), ElementsAre("refused 400"));
  EXPECT_THAT(read_requests("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), ElementsAre("refused 400"));
  EXPECT_THAT(read_requests("GET / HTTP/1.1\r\n\r\n"), ElementsAre("refused 400")) << "no Host";
  EXPECT_THAT(read_requests("GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n"), ElementsAre("refused 400"));
  EXPECT_THAT(read_requests("GET / HTTP/1.1\r\nHost: a\r\nExpect: miracles\r\n\r\n"), ElementsAre("refused 417"));
}

// A proxy before the server may read these differently, and take the rest for a request of another client.
TEST_F(RequestReaderTest, RefusesTwoOpinionsOnWhereABodyEnds) {
  const auto post = [this](const std::string& headers, const std::string& body) {
    return read_requests("POST / HTTP/1.1\r\nHost: a\r\n" + headers + "\r\n" + body);
  };
  const std::string chunks = "1\r\na\r\n0\r\n\r\n";
  EXPECT_THAT(post("Content-Length: 1\r\nContent-Length: 2\r\n", "ab"), ElementsAre("refused 400"));
  EXPECT_THAT(post("Content-Length: 1, 2\r\n", "ab"), ElementsAre("refused 400"));
  EXPECT_THAT(post("Content-Length: -1\r\n", "ab"), ElementsAre("refused 400"));
  EXPECT_THAT(post("Content-Length: 0x1\r\n", "ab"), ElementsAre("refused 400"));
  EXPECT_THAT(post("Content-Length: 99999999999999999999999\r\n", "ab"), ElementsAre("refused 400"));
  EXPECT_THAT(post("Content-Length: 1\r\nTransfer-Encoding: chunked\r\n", chunks), ElementsAre("refused 400"));
  EXPECT_THAT(post("Transfer-Encoding: chunked\r\nContent-Length: 1\r\n", chunks), ElementsAre("refused 400"));
  EXPECT_THAT(post("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", chunks), ElementsAre("refused 400"));
  EXPECT_THAT(post("Transfer-Encoding: gzip, chunked\r\n", chunks), ElementsAre("refused 501"));
  EXPECT_THAT(post("Transfer-Encoding: identity\r\n", "ab"), ElementsAre("refused 501"));
  EXPECT_THAT(post("Transfer-Encoding: chunked\r\n", "1\r\nab\r\n0\r\n\r\n"), ElementsAre("refused 400"));
  EXPECT_THAT(post("Transfer-Encoding: chunked\r\n", "zz\r\n"), ElementsAre("refused 400"));
  EXPECT_THAT(read_requests("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks),
              ElementsAre("refused 400"));
}

TEST_F(RequestReaderTest, LimitsTheHeader) {
  const std::string begin = "GET / HTTP/1.1\r\nHost: a\r\n";
  const auto padded = [&](std::size_t size) {
    const std::string name = "X: ";
    const std::string end = "\r\n\r\n";
    return begin + name + std::string(size - begin.size() - name.size() - end.size(), 'x') + end;
  };
  EXPECT_THAT(read_requests(padded(300)), ElementsAre(testing::StartsWith("GET / |Host=a|X=xxx")));
  EXPECT_THAT(read_requests(padded(301)), ElementsAre("refused 431"));
  EXPECT_THAT(read_requests(std::string(400, 'G')), ElementsAre("refused 431"));
  EXPECT_THAT(read_requests("GET /" + std::string(400, 'a')), ElementsAre("refused 431"));
  std::string lines = begin;
  while (lines.size() < 1000) lines += "A: b\r\n";
  EXPECT_THAT(read_requests(lines), ElementsAre("refused 431")) << "also when it comes in many short lines";
}

TEST_F(RequestReaderTest, LimitsTheNumberOfHeaders) {
  limits.header_bytes = 10'000;
  std::string lines = "GET / HTTP/1.1\r\nHost: a\r\n";
  for (int i = 0; i < 127; ++i) lines += "A: b\r\n";
  EXPECT_THAT(read_in_pieces(lines + "\r\n", 1000), ElementsAre(testing::StartsWith("GET / |Host=a|A=b")));
  EXPECT_THAT(read_in_pieces(lines + "A: b\r\n\r\n", 1000), ElementsAre("refused 431"));
}

TEST_F(RequestReaderTest, LimitsTheBody) {
  const std::string begin = "POST / HTTP/1.1\r\nHost: a\r\n";
  EXPECT_THAT(read_requests(begin + "Content-Length: 50\r\n\r\n" + std::string(50, 'x')),
              ElementsAre("POST / " + std::string(50, 'x') + "|Host=a|Content-Length=50"));
  EXPECT_THAT(read_requests(begin + "Content-Length: 51\r\n\r\n"), ElementsAre("refused 413")) << "before it comes";
  EXPECT_THAT(read_requests(begin + "Transfer-Encoding: chunked\r\n\r\n19\r\n" + std::string(25, 'x') + "\r\n1A\r\n"),
              ElementsAre("refused 413"));
}

TEST_F(RequestReaderTest, LimitsWhatStandsBetweenChunks) {
  const std::string begin = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1;";
  EXPECT_THAT(read_requests(begin + std::string(400, 'x')), ElementsAre("refused 400"));
  EXPECT_THAT(read_requests(begin + "x\r\na\r\n0\r\n" + std::string(400, 'X')), ElementsAre("refused 400"));
  EXPECT_THAT(read_requests(begin + std::string(200, 'x') + "\r\na\r\n1;" + std::string(200, 'x') +
                            "\r\nb\r\n0\r\nA: " + std::string(200, 'x') + "\r\n\r\n"),
              ElementsAre("POST / ab|Host=a|Transfer-Encoding=chunked"))
      << "each for itself may be as long as a header";
}

TEST_F(RequestReaderTest, TakesBodiesFromTheBudget) {
  budget = std::make_shared<BodyBudget>(60);
  const std::string request = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 40\r\n\r\n" + std::string(40, 'x');
  RequestReader first(limits, budget);
  RequestReader second(limits, budget);
  EXPECT_EQ(first.feed(request), Progress::complete);
  EXPECT_EQ(budget->taken(), 40U);
  EXPECT_EQ(second.feed(request), Progress::refused);
  EXPECT_EQ(second.refusal(), 503);
  first.drop_body();
  EXPECT_EQ(budget->taken(), 0U);
  second.reset();
  EXPECT_EQ(second.feed(request), Progress::complete);
  EXPECT_EQ(second.next(), Progress::need_more);
  EXPECT_EQ(budget->taken(), 0U);
}

TEST_F(RequestReaderTest, TellsWhenTheClientWaitsToSendTheBody) {
  const std::string header = "POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-Continue\r\nContent-Length: 5\r\n\r\n";
  RequestReader reader(limits, budget);
  EXPECT_EQ(reader.feed(header.substr(0, 30)), Progress::need_more);
  EXPECT_FALSE(reader.take_expectation());
  EXPECT_EQ(reader.feed(header.substr(30)), Progress::need_more);
  EXPECT_TRUE(reader.take_expectation());
  EXPECT_FALSE(reader.take_expectation()) << "once";
  EXPECT_EQ(reader.feed("hello"), Progress::complete);

  reader.reset();
  EXPECT_EQ(reader.feed(header + "he"), Progress::need_more);
  EXPECT_FALSE(reader.take_expectation()) << "it has not waited";

  reader.reset();
  EXPECT_EQ(reader.feed("POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 51\r\n\r\n"),
            Progress::refused);
  EXPECT_FALSE(reader.take_expectation());
}

TEST_F(RequestReaderTest, CanBeUsedForAnotherConnection) {
  RequestReader reader(limits, budget);
  EXPECT_EQ(reader.feed("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhel"), Progress::need_more);
  reader.reset();
  EXPECT_FALSE(reader.started());
  EXPECT_THAT(http::read_requests(reader, "GET / HTTP/1.1\r\nHost: a\r\n\r\nGET /", 1000),
              ElementsAre("GET / |Host=a", "unfinished"));
  reader.reset();
  EXPECT_THAT(http::read_requests(reader, "GET /x HTTP/1.1\r\nHost: a\r\n\r\n", 1000), ElementsAre("GET /x |Host=a"));
  EXPECT_EQ(budget->taken(), 0U);
}

}  // namespace
}  // namespace postino::http
