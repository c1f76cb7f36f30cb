package dev.tern.data.encode;

import dev.tern.data.Reading;
import dev.tern.internal.json.Json;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * A {@link Reading} as a part of {@link EncoderJson}. Its bytes do not depend on where rows lay.
 */
final class ReadingJson {
  private static final String NAME = "reading";

  private ReadingJson() {}

  static void write(Reading reading, Json.Obj encoder) {
    Json.Obj separators = Json.object();
    new TreeMap<>(reading.separators()).forEach(separators::put);
    List<Json> missing =
        new TreeSet<>(reading.missing()).stream().<Json>map(Json.Str::new).toList();
    encoder.put(
        NAME,
        Json.object()
            .put("trimmed", reading.trimmed())
            .put("separators", separators)
            .put("missing", new Json.Arr(missing))
            .put("settings", Json.parseObject(reading.settings(), "settings")));
  }

  /** Empty for an encoder of an earlier build, and where rows came from no file. */
  static Optional<Reading> read(Json.Obj encoder) {
    if (!encoder.has(NAME)) {
      return Optional.empty();
    }
    Json.Obj json = encoder.object(NAME);
    Map<String, String> separators =
        json.object("separators").fields().entrySet().stream()
            .collect(Collectors.toMap(Map.Entry::getKey, e -> e.getValue().asText(e.getKey())));
    return Optional.of(
        new Reading(
            json.text("trimmed"),
            separators,
            json.array("missing").stream()
                .map(text -> text.asText("missing"))
                .collect(Collectors.toSet()),
            json.object("settings").toString()));
  }
}
