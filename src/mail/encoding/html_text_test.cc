#include "mail/encoding/html_text.h"

#include <gtest/gtest.h>

namespace postino::mail {
namespace {

TEST(TextOfHtml, IsWhatPeopleRead) {
  EXPECT_EQ(text_of_html("Hello, <b>Ada</b>!"), "Hello, Ada!");
  EXPECT_EQ(text_of_html("<html><head><title>No</title><style>p{a:b}</style></head><body><p>One\n  two</p>"
                         "<p>Three<br>four</p><script>if (a</b) {}</script></body></html>"),
            "One two\n\nThree\nfour");
  EXPECT_EQ(text_of_html("<div>a</div><div>b</div><ul><li>c</li><LI>d</ul>e"), "a\nb\n\n- c\n- d\n\ne");
  EXPECT_EQ(text_of_html("<table><tr><td>1</td><td>2</td></tr><tr><td>3</td></tr></table>"), "1 2\n3");
  EXPECT_EQ(text_of_html("<pre>one\n  two</pre>three   four"), "one\n  two\n\nthree four");
  EXPECT_EQ(text_of_html("a<!-- <p>not this</p> -->b<!doctype html><?xml?>c"), "abc");
  EXPECT_EQ(text_of_html("<a href='x>y' title=\"<p>\">link</a>"), "link");
}

TEST(TextOfHtml, HasCharactersForTheirNames) {
  EXPECT_EQ(text_of_html("&lt;b&gt; &amp;amp; &quot;x&quot; &eacute;&nbsp;&uuml;&szlig; &euro; &hellip;"),
            "<b> &amp; \"x\" é üß € …");
  EXPECT_EQ(text_of_html("&#65;&#x42;&#xe9;&#128512;&#0;&#xD800;&#99999999;"), "ABé😀\uFFFD\uFFFD\uFFFD");
  EXPECT_EQ(text_of_html("a & b &unknown; &#; &#x; &#1a; &amp"), "a & b &unknown; &#; &#x; &#1a; &amp");
}

TEST(TextOfHtml, MayBeBroken) {
  EXPECT_EQ(text_of_html(""), "");
  EXPECT_EQ(text_of_html("1 < 2 <3 <"), "1 < 2 <3 <");
  EXPECT_EQ(text_of_html("a<b class='never closed>text"), "a");
  EXPECT_EQ(text_of_html("a<!-- never closed"), "a");
  EXPECT_EQ(text_of_html("a<script>never closed"), "a");
  EXPECT_EQ(text_of_html("a</p></div></unknown>b"), "a\n\nb");
  constexpr std::size_t many = 200'000;
  std::string nested;
  for (std::size_t i = 0; i < many; ++i) nested += "<!--<script><a '";
  EXPECT_EQ(text_of_html(nested), "");
  EXPECT_EQ(text_of_html(std::string(many, '<')), std::string(many, '<'));
  EXPECT_EQ(text_of_html(std::string(many, '&')), std::string(many, '&'));
}

}  // namespace
}  // namespace postino::mail
