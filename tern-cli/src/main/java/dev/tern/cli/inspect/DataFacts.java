package dev.tern.cli.inspect;

import dev.tern.base.DataException;
import dev.tern.data.DataReader;
import dev.tern.data.Schema;
import dev.tern.data.encode.TextDictionary;
import java.io.PrintWriter;
import java.util.List;
import java.util.Optional;
import java.util.function.LongConsumer;

/** What values say about labels, and how other rows differ. */
public final class DataFacts {
  private final Profile rows;
  private final Optional<LabelRates> rates;
  private final Optional<Drift> drift;

  private DataFacts(Profile rows, Optional<LabelRates> rates, Optional<Drift> drift) {
    this.rows = rows;
    this.rates = rates;
    this.drift = drift;
  }

  /**
   * Reads all rows.
   *
   * @param texts what the readers tell of texts
   * @param others other rows of the same columns, if there are some
   * @param values most frequent values of each sparse column to show; 0 for none
   * @param progress receives the rows read so far
   * @throws DataException if the others have other columns
   */
  public static DataFacts of(
      DataReader reader,
      Optional<DataReader> others,
      TextDictionary texts,
      int values,
      LongConsumer progress) {
    others.ifPresent(other -> requireSame(reader.schema(), other.schema()));
    Profile rows = Profile.of(reader, texts, progress);
    Optional<Drift> drift =
        others.map(other ->
            Drift.of(rows, Profile.of(other, texts, done -> progress.accept(rows.rows() + done))));
    Optional<LabelRates> rates =
        values > 0 ? Optional.of(new LabelRates(rows, values)) : Optional.empty();
    return new DataFacts(rows, rates, drift);
  }

  private static void requireSame(Schema first, Schema other) {
    List<List<String>> columns = List.of(first.labels(), first.dense(), first.slotNames());
    List<List<String>> others = List.of(other.labels(), other.dense(), other.slotNames());
    if (!columns.equals(others)) {
      throw new DataException(
          "--against: got the labels, numbers and ids %s, expected %s; give files of the same columns"
              .formatted(others, columns));
    }
  }

  /** Prints tables. */
  public void print(PrintWriter out) {
    rates.ifPresent(of -> of.print(out));
    if (rates.isPresent() && drift.isPresent()) {
      out.println();
    }
    drift.ifPresent(of -> of.print(out));
  }

  /** Prints a line of JSON for each value, and one for each column that is compared. */
  public void printJson(PrintWriter out) {
    rates.ifPresent(of -> of.printJson(out));
    drift.ifPresent(of -> of.printJson(out));
  }

  /** The same as a page about the files {@code name}. */
  public String html(String name) {
    return new InspectPage(rates, drift, name).html(rows.rows());
  }
}
