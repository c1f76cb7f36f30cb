package dev.tern.serve.http.metrics;

import java.nio.charset.StandardCharsets;

/** A page in the text format of Prometheus, version 0.0.4. */
public final class Exposition {
  public static final String TYPE = "text/plain; version=0.0.4; charset=utf-8";

  private final StringBuilder text = new StringBuilder(8_192);

  /** Begins a family, whose lines follow. */
  public void family(String name, String type, String help) {
    text.append("# HELP ").append(name).append(' ').append(help).append('\n');
    text.append("# TYPE ").append(name).append(' ').append(type).append('\n');
  }

  public void line(String name, String labels, long value) {
    start(name, labels).append(value).append('\n');
  }

  public void line(String name, String labels, double value) {
    start(name, labels).append(shown(value)).append('\n');
  }

  private StringBuilder start(String name, String labels) {
    text.append(name);
    if (!labels.isEmpty()) {
      text.append('{').append(labels).append('}');
    }
    return text.append(' ');
  }

  private static String shown(double value) {
    if (Double.isInfinite(value)) {
      return value > 0 ? "+Inf" : "-Inf";
    }
    return Double.toString(value);
  }

  /** A label with its value, quoted. */
  public static String label(String name, String value) {
    String safe = value.replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n");
    return name + "=\"" + safe + "\"";
  }

  public byte[] bytes() {
    return text.toString().getBytes(StandardCharsets.UTF_8);
  }
}
