package dev.tern.cli.board;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The page's own files, as they are. */
final class PageTest {
  private static final Set<String> VOID = Set.of("meta", "link", "input", "!doctype");
  private static final Pattern TAG = Pattern.compile("<(/?)([!a-z0-9]+)([^<>]*)>");

  private static String text(String name) throws IOException {
    try (InputStream in = PageTest.class.getResourceAsStream(name)) {
      assertThat(in).as(name).isNotNull();
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  private static Set<String> all(String text, String pattern) {
    return Pattern.compile(pattern)
        .matcher(text)
        .results()
        .map(found -> found.group(1))
        .collect(Collectors.toCollection(TreeSet::new));
  }

  @ParameterizedTest
  @ValueSource(strings = {"board.html", "board.css", "board.js", "chart.js"})
  void nothingIsLoadedFromElsewhere(String name) throws IOException {
    String text = text(name).replace("'http://www.w3.org/2000/svg'", "");
    assertThat(text)
        .doesNotContain("http:", "https:", "//cdn", "@import", "url(\"", "ws://", "wss://");
    assertThat(all(text, "(?:src|href)=\"([^\"]*)\""))
        .isSubsetOf("board.css", "board.js", "data:,");
    assertThat(all(text, "from '([^']*)'")).isSubsetOf("./chart.js");
  }

  @ParameterizedTest
  @ValueSource(strings = {"board.js", "chart.js"})
  void namesOfRunsAndColumnsNeverBecomeHtmlOrCode(String name) throws IOException {
    assertThat(text(name))
        .doesNotContain(
            "innerHTML",
            "outerHTML",
            "insertAdjacent",
            "document.write",
            "eval(",
            "Function(",
            "DOMParser",
            "createContextualFragment",
            "srcdoc",
            "setTimeout('",
            "style=");
  }

  @Test
  void theTagsOfThePageAreClosedInOrder() throws IOException {
    String page = text("board.html");
    Deque<String> open = new ArrayDeque<>();
    Matcher tags = TAG.matcher(page);
    while (tags.find()) {
      String name = tags.group(2);
      if (tags.group(1).equals("/")) {
        assertThat(open.pop()).as("what </%s> closes", name).isEqualTo(name);
      } else if (!VOID.contains(name)) {
        open.push(name);
      }
    }
    assertThat(open).isEmpty();
    assertThat(TAG.matcher(page).replaceAll("")).doesNotContain("<", ">");
    List<String> ids =
        Pattern.compile(" id=\"([^\"]*)\"")
            .matcher(page)
            .results()
            .map((MatchResult found) -> found.group(1))
            .toList();
    assertThat(ids).doesNotHaveDuplicates();
  }

  @Test
  void theScriptFindsEachPartOfThePageItAsksFor() throws IOException {
    Set<String> ids = all(text("board.html"), " id=\"([^\"]*)\"");
    Set<String> asked = all(text("board.js"), "byId\\('([^']*)'\\)");
    assertThat(asked).isNotEmpty().isSubsetOf(ids);
  }

  @Test
  void theScriptKnowsEachFigure() throws IOException {
    Set<String> known = all(text("board.js"), "(?m)^  ([a-z_0-9]+): \\{title: ");
    for (Figure figure : Figure.values()) {
      assertThat(known).contains(figure.text());
    }
    assertThat(known).hasSize(Figure.values().length);
  }

  @Test
  void eachControlHasAName() throws IOException {
    String page = text("board.html");
    Matcher controls = Pattern.compile("<(select|input)[^>]*>").matcher(page);
    int found = 0;
    while (controls.find()) {
      String before = page.substring(0, controls.start());
      assertThat(before.lastIndexOf("<label>")).isGreaterThan(before.lastIndexOf("</label>"));
      found++;
    }
    assertThat(found).isEqualTo(3);
  }

  @Test
  void colorsOfThePageDifferInTheDarkOneForOne() throws IOException {
    String css = text("board.css");
    int dark = css.indexOf("prefers-color-scheme: dark");
    Set<String> light = all(css.substring(0, dark), "(--[a-z0-9]+):");
    Set<String> darks = all(css.substring(dark, css.indexOf("* { box-sizing")), "(--[a-z0-9]+):");
    assertThat(darks).isEqualTo(light);
    assertThat(light).containsAll(all(css, "var\\((--[a-z0-9]+)\\)"));
  }
}
