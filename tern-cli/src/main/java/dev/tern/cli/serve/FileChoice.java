package dev.tern.cli.serve;

import dev.tern.cli.config.ConfigException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.TypeConversionException;

/** Gives options of a command the values that a file has for them. */
final class FileChoice {
  /** The option that has a value for each model beside one for all. */
  private static final String LIMITS = "memory";

  /** Options that are of the command line alone. */
  private static final Set<String> NOT_IN_FILES =
      Set.of("help", "version", "debug", "check", "config", "candidates");

  private final CommandSpec spec;

  FileChoice(CommandSpec spec) {
    this.spec = spec;
  }

  /** The names of options that a file may have. */
  Set<String> names() {
    Set<String> names = new TreeSet<>();
    for (OptionSpec option : spec.options()) {
      String name = option.longestName();
      if (name.startsWith("--") && !NOT_IN_FILES.contains(name.substring(2))) {
        names.add(name.substring(2));
      }
    }
    return names;
  }

  /** Sets the options that the command line has not set. */
  void apply(ServeFile file) {
    ParseResult given = spec.commandLine().getParseResult();
    file.options()
        .forEach((key, value) -> {
          OptionSpec option = spec.findOption("--" + key);
          boolean isSet = given.hasMatchedOption("--" + key);
          if (option != null && isSet && key.equals(LIMITS)) {
            // Limits of some models stand beside it; one of all models comes behind it, and counts.
            List<Object> all = new ArrayList<>(List.of(converted(option, key, value)));
            all.addAll(given.matchedOptionValue("--" + key, List.of()));
            option.setValue(all);
          } else if (option != null && !isSet) {
            Object one = converted(option, key, value);
            option.setValue(option.isMultiValue() ? List.of(one) : one);
          }
        });
  }

  private static Object converted(OptionSpec option, String key, ServeFile.Value value) {
    String text = value.text(key);
    Class<?> type = option.type();
    if (option.converters() != null && option.converters().length > 0) {
      return converted(option.converters()[0], key, value);
    }
    if (type == boolean.class || type == Boolean.class) {
      if (!text.equals("true") && !text.equals("false")) {
        throw wrong(value, key, "true or false");
      }
      return text.equals("true");
    }
    if (type == int.class || type == Integer.class) {
      try {
        return Integer.valueOf(text);
      } catch (NumberFormatException e) {
        throw wrong(value, key, "a whole number");
      }
    }
    if (type == Path.class) {
      return Path.of(text);
    }
    if (type.isEnum()) {
      return constant(type, key, value);
    }
    return text;
  }

  @SuppressWarnings({"unchecked", "rawtypes"})
  private static Object constant(Class<?> type, String key, ServeFile.Value value) {
    return ServedModels.choice(value, key, (Class) type);
  }

  private static Object converted(ITypeConverter<?> by, String key, ServeFile.Value value) {
    try {
      return by.convert(value.text(key));
    } catch (TypeConversionException e) {
      throw new ConfigException(
          "%s: %s: %s".formatted(value.where(), key, String.valueOf(e.getMessage())), e);
    } catch (Exception e) {
      throw new IllegalStateException("option " + key + ": got " + e, e);
    }
  }

  private static ConfigException wrong(ServeFile.Value value, String key, String expected) {
    return new ConfigException(
        "%s: %s: got %s, expected %s".formatted(value.where(), key, value.text(key), expected));
  }
}
