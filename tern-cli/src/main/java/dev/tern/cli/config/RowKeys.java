package dev.tern.cli.config;

import dev.tern.embedding.config.RowPolicy;
import dev.tern.embedding.config.WhenFull;
import java.util.Locale;

/** The keys of a section that says which ids have rows. */
final class RowKeys {
  private final AdmissionKeys admission;
  private final EvictionKeys eviction;
  private final Key<Long> most;
  private final Key<String> whenFull;

  private RowKeys(Key.Section keys, String section) {
    admission = new AdmissionKeys(keys, section + ".admission");
    eviction = new EvictionKeys(keys, section + ".eviction");
    most =
        keys.key(
            section + ".max_rows",
            new Kind.Whole(0, Long.MAX_VALUE),
            0L,
            "Rows of a table at most; 0 for as many as fit the memory.");
    whenFull =
        keys.key(
            section + ".when_full",
            Kind.Choice.of("error", "unknown"),
            "error",
            "What an id that finds no room in a table does: end the training, or read as"
                + " model.unknown.");
  }

  /** Declares the keys of a section, which may be one of groups. */
  static RowKeys of(Key.Section keys, String section) {
    return new RowKeys(keys, section);
  }

  /**
   * The rule that the section holds.
   *
   * @throws ConfigException where rows make room for others without a limit
   */
  RowPolicy read(Settings.Group group) {
    long rows = group.get(most);
    if (rows == 0 && eviction.needsLimit(group)) {
      throw new ConfigException(
          group.where(eviction.type())
              + ": "
              + eviction.type().path()
              + ": got "
              + group.get(eviction.type())
              + " without a limit, at which rows would go, expected one; add "
              + most.path());
    }
    return new RowPolicy(
        admission.read(group),
        eviction.read(group),
        rows == 0 ? Long.MAX_VALUE : rows,
        WhenFull.valueOf(group.get(whenFull).toUpperCase(Locale.ROOT)));
  }
}
