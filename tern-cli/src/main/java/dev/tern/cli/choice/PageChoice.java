package dev.tern.cli.choice;

import dev.tern.cli.run.PageFile;
import java.nio.file.Path;
import java.util.Optional;
import picocli.CommandLine.Option;

/** Command-line arguments for a page that a command may write. */
public final class PageChoice {
  @Option(
      names = "--html",
      paramLabel = "FILE",
      description = "Write a page with pictures there; it needs no other file.")
  private Optional<Path> file = Optional.empty();

  @Option(names = "--overwrite", description = "Replace a page that is there already.")
  private boolean overwrite;

  /** The page, whose place is good to write to; empty if none is asked for. */
  public Optional<PageFile> page() {
    Optional<PageFile> page = file.map(PageFile::new);
    page.ifPresent(each -> each.check(overwrite));
    return page;
  }
}
