package dev.tern.convert;

import java.util.List;

/**
 * What an import made.
 *
 * @param parameters weights of layers
 * @param rows of all tables together
 * @param notes what a user should know, a sentence each
 */
public record ImportReport(ImportedModel made, long parameters, long rows, List<String> notes) {
  /** Copies {@code notes}. */
  public ImportReport {
    notes = List.copyOf(notes);
  }
}
