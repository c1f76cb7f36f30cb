package dev.tern.cli.translate;

import dev.tern.base.Shown;
import dev.tern.cli.translate.TextFormatScanner.Kind;
import dev.tern.cli.translate.TextFormatScanner.Token;
import java.util.ArrayList;
import java.util.List;

/**
 * Reads protobuf's text format without a schema: a message is a {@link Section}, and a repeated
 * field is there several times. Names of extensions and of {@code Any} are refused.
 */
final class TextFormat {
  /** Messages in each other. */
  static final int MOST_DEPTH = 64;

  /** Fields of a file. */
  static final int MOST_FIELDS = 500_000;

  private final TextFormatScanner scanner;
  private Token token;
  private int fields;

  private TextFormat(String text, String file) {
    scanner = new TextFormatScanner(text, file);
    token = scanner.next();
  }

  /**
   * Reads a file.
   *
   * @throws dev.tern.cli.config.ConfigException with the line where the text is none of this format
   */
  static Section read(String text, String file) {
    TextFormat format = new TextFormat(text, file);
    Section root = new Section("", new Place(file, 1));
    format.fields(root, "", 0);
    return root;
  }

  private Token take() {
    Token taken = token;
    token = scanner.next();
    return taken;
  }

  private boolean takes(String sign) {
    boolean is = token.is(sign);
    if (is) {
      take();
    }
    return is;
  }

  /** The fields of a message up to {@code end}, a sign; empty for the end of the file. */
  private void fields(Section message, String end, int depth) {
    if (depth > MOST_DEPTH) {
      throw message
          .place()
          .wrong("got messages more than %d deep, expected fewer".formatted(MOST_DEPTH));
    }
    while (true) {
      if (end.isEmpty() ? token.kind() == Kind.END : token.is(end)) {
        take();
        return;
      }
      if (token.kind() != Kind.WORD) {
        String what = end.isEmpty() ? "the name of a field" : "the name of a field or " + end;
        throw wrong(token, what);
      }
      field(message, depth);
      if (!takes(",")) {
        takes(";");
      }
    }
  }

  private void field(Section message, int depth) {
    Token name = take();
    if (!name.text().matches("[A-Za-z_][A-Za-z0-9_]*")) {
      throw wrong(name, "the name of a field");
    }
    boolean colon = takes(":");
    if (colon && token.is("[")) {
      Place place = take().place();
      message.add(name.text(), new Setting.Many(list(message, name, depth), place));
    } else {
      message.add(name.text(), value(message, name, colon, depth));
    }
  }

  private List<Setting> list(Section message, Token name, int depth) {
    List<Setting> items = new ArrayList<>();
    while (!takes("]")) {
      items.add(value(message, name, true, depth));
      if (!token.is("]") && !takes(",")) {
        throw wrong(token, ", or ] in the list " + name.text());
      }
    }
    return items;
  }

  private Setting value(Section message, Token name, boolean colon, int depth) {
    if (++fields > MOST_FIELDS) {
      throw name.place().wrong("got more than %,d fields, expected fewer".formatted(MOST_FIELDS));
    }
    if (token.is("{") || token.is("<")) {
      Token open = take();
      Section inside = new Section(message.path(name.text()), name.place());
      fields(inside, open.is("{") ? "}" : ">", depth + 1);
      return inside;
    }
    if (!colon) {
      throw wrong(token, ": or { behind " + name.shown());
    }
    return switch (token.kind()) {
      case WORD -> new Setting.Text(name.text(), take().text(), name.place());
      case STRING -> {
        StringBuilder text = new StringBuilder();
        while (token.kind() == Kind.STRING) { // Strings side by side are one.
          text.append(take().text());
        }
        yield new Setting.Text(name.text(), text.toString(), name.place());
      }
      default -> throw wrong(token, "a value of " + name.shown());
    };
  }

  private static RuntimeException wrong(Token got, String expected) {
    return got.place()
        .wrong(
            "got %s, expected %s; check brackets and colons"
                .formatted(got.shown(), Shown.line(expected)));
  }
}
