package dev.tern.serve.http;

import dev.tern.serve.Reply;
import dev.tern.serve.wire.RefusedException;
import java.nio.charset.StandardCharsets;

/** Short texts of JSON. */
final class JsonText {
  private static final String HEX = "0123456789abcdef";

  private JsonText() {}

  /** Appends {@code text} as a string of JSON. */
  static void quote(StringBuilder to, String text) {
    to.append('"');
    for (int at = 0; at < text.length(); at++) {
      char c = text.charAt(at);
      if (c == '"' || c == '\\') {
        to.append('\\').append(c);
      } else if (c < 0x20 || c == 0x7f || Character.isSurrogate(c)) {
        to.append("\\u")
            .append(HEX.charAt(c >> 12))
            .append(HEX.charAt(c >> 8 & 15))
            .append(HEX.charAt(c >> 4 & 15))
            .append(HEX.charAt(c & 15));
      } else {
        to.append(c);
      }
    }
    to.append('"');
  }

  static String quoted(String text) {
    StringBuilder quoted = new StringBuilder(text.length() + 2);
    quote(quoted, text);
    return quoted.toString();
  }

  /** What all protocols answer where they have no scores. */
  static Reply error(int status, String message) {
    return reply(status, "{\"error\":" + quoted(message) + "}");
  }

  static Reply error(RefusedException e) {
    return error(e.status(), String.valueOf(e.getMessage()));
  }

  static Reply reply(int status, String json) {
    return Reply.json(status, json.getBytes(StandardCharsets.UTF_8));
  }
}
