package dev.tern.cli.understand;

import dev.tern.cli.config.ConfigException;
import java.util.BitSet;

/** Rows by their numbers, from 1 on, as in {@code 1,5-7}. */
final class RowNumbers {
  private static final int MOST = 1_000_000_000;

  private RowNumbers() {}

  /** The rows, from 0 on. */
  static BitSet of(String text) {
    BitSet rows = new BitSet();
    for (String part : text.split(",", -1)) {
      String[] ends = part.strip().split("\\s*-\\s*", -1);
      int from = number(text, ends[0]);
      int to = ends.length == 2 ? number(text, ends[1]) : from;
      if (ends.length > 2 || to < from) {
        throw wrong(text);
      }
      rows.set(from - 1, to);
    }
    return rows;
  }

  private static int number(String text, String digits) {
    if (!digits.matches("[0-9]{1,10}")) {
      throw wrong(text);
    }
    long number = Long.parseLong(digits);
    if (number < 1 || number > MOST) {
      throw wrong(text);
    }
    return (int) number;
  }

  private static ConfigException wrong(String text) {
    return new ConfigException(
        "--row: got "
            + (text.isEmpty() ? "nothing" : text)
            + ", expected numbers of rows from 1 on, as in 1,5-7; mend it");
  }
}
