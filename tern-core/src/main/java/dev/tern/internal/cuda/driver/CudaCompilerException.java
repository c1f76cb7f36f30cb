package dev.tern.internal.cuda.driver;

import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A compiler refused a text; the message has its own words and the line that these name. */
final class CudaCompilerException extends RuntimeException {
  private static final long serialVersionUID = 1L;
  private static final int LONGEST_LOG = 4000;

  /** How NVIDIA's compilers and g++ name a line of the text. */
  private static final Pattern PLACE =
      Pattern.compile(Pattern.quote(CompilerCommand.NAME) + "[(:](\\d+)[):].*(error|fatal).*");

  CudaCompilerException(String message) {
    super(message);
  }

  /** The error for a text that a compiler refused with a log. */
  static CudaCompilerException of(String compiler, String log, String text) {
    String said = log.strip();
    if (said.length() > LONGEST_LOG) {
      said = said.substring(0, LONGEST_LOG) + " ...";
    }
    return new CudaCompilerException(
        "%s: got an error in the text of kernels, expected none; report it with this message%n%s%s"
            .formatted(compiler, said, lineNamed(log, text)));
  }

  private static String lineNamed(String log, String text) {
    Matcher place = PLACE.matcher(log);
    if (!place.find()) {
      return "";
    }
    int number = Integer.parseInt(place.group(1));
    List<String> lines = text.lines().toList();
    return number < 1 || number > lines.size()
        ? ""
        : "%nline %d: %s".formatted(number, lines.get(number - 1).strip());
  }
}
