package dev.tern.cli;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.PrintStream;
import java.lang.reflect.Constructor;

/**
 * Where errors and progress go. The JVM warns of the incubating module of vectors before any code
 * runs, and no option turns that off. So the script {@code tern} lets the JVM write to a filter
 * that leaves the line out, and tells in {@code tern.stderr} the number of the open file that is
 * standard error.
 */
final class StandardError {
  private StandardError() {}

  /** Lets {@link System#err} be the file that the script named, if it named one. */
  static void take() {
    Integer file = Integer.getInteger("tern.stderr");
    if (file == null) {
      eraseWarning();
      return;
    }
    try {
      // To open /dev/fd/N instead would open the file anew, and overwrite what others write to it.
      Constructor<FileDescriptor> opened = FileDescriptor.class.getDeclaredConstructor(int.class);
      opened.setAccessible(true);
      FileOutputStream out = new FileOutputStream(opened.newInstance(file));
      System.setErr(new PrintStream(out, true, System.err.charset()));
    } catch (ReflectiveOperationException | RuntimeException e) {
      // The filter hands on what is written to System.err, only a little later.
    }
  }

  /** Without the filter: erases the warning from a terminal, where it is the first line. */
  private static void eraseWarning() {
    if (Boolean.getBoolean("tern.terminal")) {
      System.err.print("\u001b[1A\u001b[2K");
      System.err.flush();
    }
  }
}
