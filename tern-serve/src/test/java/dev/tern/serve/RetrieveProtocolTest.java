package dev.tern.serve;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.tern.data.Batch;
import dev.tern.data.Schema;
import dev.tern.data.Slot;
import dev.tern.data.encode.FeatureEncoder;
import dev.tern.data.encode.IdEncoding;
import dev.tern.data.encode.NumberEncoding;
import dev.tern.data.encode.TextDictionary;
import dev.tern.data.encode.TextHash;
import dev.tern.data.readers.Readers;
import dev.tern.model.Matching;
import dev.tern.model.ModelConfig;
import dev.tern.optim.Optimizer;
import dev.tern.predict.Candidates;
import dev.tern.predict.ModelVersion;
import dev.tern.predict.Retriever;
import dev.tern.predict.ScoreOptions;
import dev.tern.predict.ServedModel;
import dev.tern.predict.ServedOptions;
import dev.tern.predict.TopItems;
import dev.tern.serve.wire.RefusedException;
import dev.tern.tensor.Device;
import dev.tern.train.TrainOptions;
import dev.tern.train.Trainer;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalInt;
import java.util.Random;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Requests for items beside a retriever of the same checkpoint. */
final class RetrieveProtocolTest {
  private static final Schema SCHEMA =
      new Schema(
          List.of("click"),
          List.of("age"),
          List.of(Slot.oneHot("user"), Slot.ragged("seen"), Slot.oneHot("item")));
  private static final int ITEMS = 12;

  @TempDir private static Path folder;

  private static ServedModel model;
  private static ModelVersion pinned;
  private static ServedVersion version;

  /** The items and scores of users 0, 1 and 2, all of them. */
  private static TopItems expected;

  private final RetrieveProtocol retrieve = new RetrieveProtocol(new RequestContexts());

  @BeforeAll
  static void train() {
    Batch rows = new Batch(SCHEMA, 400);
    Random random = new Random(3);
    for (int i = 0; i < 400; i++) {
      put(rows, random.nextInt(6), random.nextInt(ITEMS));
    }
    FeatureEncoder encoder =
        FeatureEncoder.fit(
            Readers.inMemory(rows),
            List.of(NumberEncoding.standardize()),
            List.of(
                IdEncoding.verbatim(),
                IdEncoding.verbatim(),
                new IdEncoding.Vocabulary(true, 1, 1000)),
            TextDictionary.none(),
            read -> {});
    ModelConfig towers =
        ModelConfig.of(ModelConfig.Type.TWOTOWER, 4, 8, 6).withMatching(Matching.of("item"));
    Path saved = folder.resolve("saved");
    try (Device device = Device.cpu(1, 1L << 28);
        Trainer trainer =
            Trainer.create(
                device,
                encoder,
                towers,
                TrainOptions.of(Optimizer.adam(0.05f)).batch(50).epochs(2))) {
      trainer.fit(Readers.inMemory(rows));
      trainer.save(saved);
    }
    Batch items = new Batch(SCHEMA, ITEMS);
    for (int item = 0; item < ITEMS; item++) {
      put(items, 0, item);
    }
    model =
        ServedModel.open(
            saved,
            ServedOptions.DEFAULT.withCandidates(checkpoint -> {
              Candidates all = new Candidates(checkpoint.encoder().rawSchema(), List.of("item"));
              all.add(items, row -> name(row));
              return all;
            }));
    pinned = model.pin();
    version = ServedVersion.of("shop", pinned);
    try (Retriever retriever = Retriever.open(saved, ScoreOptions.DEFAULT)) {
      retriever.add(items);
      Batch users = new Batch(SCHEMA, 3);
      for (int user = 0; user < 3; user++) {
        put(users, user, 0);
      }
      expected = retriever.top(users, ITEMS);
    }
  }

  @AfterAll
  static void close() {
    pinned.close();
    model.close();
  }

  private static void put(Batch to, int user, int item) {
    to.setLabel(0, 1);
    to.setDense(0, user);
    to.addId(0, user);
    to.addId(1, 100 + user);
    to.addId(2, TextHash.of(name(item)));
    to.endRow();
  }

  private static String name(int item) {
    return "\"" + (char) ('a' + item) + "\"";
  }

  private static String quoted(int item) {
    return "\"\\\"" + (char) ('a' + item) + "\\\"\"";
  }

  private static String row(int user) {
    return "{\"age\":%d,\"user\":%d,\"seen\":[%d]}".formatted(user, user, 100 + user);
  }

  private String rows(String body) {
    byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
    return new String(retrieve.rows(version, bytes, bytes.length).body(), StandardCharsets.UTF_8);
  }

  private Reply tensors(String body) {
    byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
    return retrieve.tensors(version, bytes, bytes.length, OptionalInt.empty());
  }

  /** The places of the best of a user's items that are not excluded. */
  private static List<Integer> places(int user, int top, int... excluded) {
    List<Integer> places = new ArrayList<>();
    for (int i = user * ITEMS; i < (user + 1) * ITEMS && places.size() < top; i++) {
      int item = expected.items()[i];
      if (Arrays.stream(excluded).noneMatch(each -> each == item)) {
        places.add(i);
      }
    }
    return places;
  }

  private static String items(List<Integer> places) {
    return String.join(",", places.stream().map(at -> quoted(expected.items()[at])).toList());
  }

  private static String scores(List<Integer> places) {
    return String.join(
        ",", places.stream().map(at -> Float.toString(expected.scores()[at])).toList());
  }

  private static String prediction(List<Integer> places) {
    return "{\"items\":[" + items(places) + "],\"scores\":[" + scores(places) + "]}";
  }

  @Test
  void rowsGetTheItemsThatARetrieverFinds() {
    String body = "{\"instances\":[%s,%s],\"parameters\":{\"top_k\":3}}".formatted(row(0), row(1));
    assertThat(rows(body))
        .isEqualTo(
            "{\"predictions\":[%s,%s],\"model_version\":\"%d\"}"
                .formatted(prediction(places(0, 3)), prediction(places(1, 3)), pinned.step()));
    String columns = "{\"inputs\":{\"age\":[2],\"user\":[2],\"seen\":[[102]]}}";
    assertThat(rows(columns)).contains(prediction(places(2, 10)));
    String context =
        "{\"instances\":[{},{}],\"context\":%s,\"parameters\":{\"top_k\":2}}".formatted(row(1));
    assertThat(rows(context)).contains(prediction(places(1, 2)) + "," + prediction(places(1, 2)));
    assertThat(rows("{\"instances\":[]}")).startsWith("{\"predictions\":[],");
  }

  @Test
  void excludedItemsAreNotFound() {
    int best = expected.items()[0];
    int other = expected.items()[ITEMS + 1];
    String body =
        "{\"exclude\":[%s,\"no such item\"],\"instances\":[%s,%s],\"parameters\":{\"top_k\":3}}"
            .formatted(quoted(best), row(0), row(1));
    assertThat(rows(body))
        .contains(prediction(places(0, 3, best)) + "," + prediction(places(1, 3, best)));
    String each =
        "{\"instances\":[%s,%s],\"exclude\":[[%s,%s],[%s]],\"parameters\":{\"top_k\":3}}"
            .formatted(row(0), row(1), quoted(best), quoted(best), quoted(other));
    assertThat(rows(each))
        .contains(prediction(places(0, 3, best)) + "," + prediction(places(1, 3, other)));
    assertThat(
            rows(
                "{\"instances\":[%s],\"exclude\":[],\"parameters\":{\"top_k\":1}}"
                    .formatted(row(0))))
        .contains(prediction(places(0, 1)));
  }

  @Test
  void tensorsHaveAPlaceForEachItemThatWasAskedFor() {
    String inputs =
        """
        "inputs":[{"name":"age","shape":[2],"datatype":"FP32","data":[0,1]},
        {"name":"user","shape":[2],"datatype":"INT64","data":[0,1]},
        {"name":"seen","shape":[2,1],"datatype":"INT64","data":[100,101]}]\
        """;
    String all = String.join(",", List.of(quoted(0), quoted(1), quoted(2)));
    Reply reply =
        tensors(
            "{\"id\":\"7\",%s,\"exclude\":[[],[%s]],\"parameters\":{\"top_k\":100}}"
                .formatted(inputs, all));
    List<Integer> first = places(0, ITEMS);
    List<Integer> second = places(1, ITEMS, 0, 1, 2);
    assertThat(new String(reply.body(), StandardCharsets.UTF_8))
        .isEqualTo(
            "{\"model_name\":\"shop\",\"model_version\":\"%d\",\"id\":\"7\",\"outputs\":["
                    .formatted(pinned.step())
                + "{\"name\":\"items\",\"shape\":[2,12],\"datatype\":\"BYTES\",\"data\":[%s,%s,\"\",\"\",\"\"]},"
                    .formatted(items(first), items(second))
                + "{\"name\":\"scores\",\"shape\":[2,12],\"datatype\":\"FP32\",\"data\":[%s,%s,null,null,null]},"
                    .formatted(scores(first), scores(second))
                + "{\"name\":\"found\",\"shape\":[2],\"datatype\":\"INT32\",\"data\":[12,9]}]}");
  }

  @Test
  void outputsMayBeBinary() {
    Reply reply =
        tensors(
            """
            {"inputs":[{"name":"user","shape":[1],"datatype":"INT64","data":[0]},
            {"name":"age","shape":[1],"datatype":"FP32","data":[0]},
            {"name":"seen","shape":[1,1],"datatype":"INT64","data":[100]}],
            "outputs":[{"name":"scores"},{"name":"items"},
            {"name":"found","parameters":{"binary_data":false}}],
            "parameters":{"top_k":2,"binary_data_output":true}}\
            """);
    int json = reply.jsonLength().orElseThrow();
    assertThat(new String(reply.body(), 0, json, StandardCharsets.UTF_8))
        .contains(
            "{\"name\":\"scores\",\"shape\":[1,2],\"datatype\":\"FP32\",\"parameters\":{\"binary_data_size\":8}}")
        .contains("\"parameters\":{\"binary_data_size\":14}}")
        .contains("\"data\":[2]");
    ByteBuffer binary =
        ByteBuffer.wrap(reply.body(), json, reply.body().length - json)
            .order(ByteOrder.LITTLE_ENDIAN);
    for (int i = 0; i < 2; i++) {
      assertThat(binary.getFloat()).isEqualTo(expected.scores()[i]);
    }
    for (int i = 0; i < 2; i++) {
      byte[] text = new byte[binary.getInt()];
      binary.get(text);
      assertThat(new String(text, StandardCharsets.UTF_8)).isEqualTo(name(expected.items()[i]));
    }
    assertThat(binary.hasRemaining()).isFalse();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '#',
      quoteCharacter = '`',
      value = {
        "{\"instances\":[{}],\"exclude\":\"a\"} # exclude: got a text, expected an array of items",
        "{\"instances\":[{}],\"exclude\":[true]} # exclude: got true or false, expected a text or",
        "{\"instances\":[{}],\"exclude\":[\"a\",[]]} # exclude: got an array, expected a text or",
        "{\"instances\":[{}],\"exclude\":[[\"a\"],\"a\"]} # exclude: got a text, expected an array",
        "{\"instances\":[{}],\"exclude\":[[],[]]} # got exclude with 2 lists, expected one for each"
            + " of the 1 rows",
        "{\"instances\":[{}],\"exclude\":[],\"exclude\":[]} # got exclude twice, expected it once",
        "{\"instances\":[{}],\"exclude\":[\"a\" # JSON Parse error",
        "{\"instances\":[{}],\"parameters\":{\"top_k\":0}} # top_k: got 0, expected a whole number",
        "{\"instances\":[{}],\"parameters\":{\"explain\":true}} # got explain, expected it in"
            + " requests for scores",
        "{\"instances\":[{\"nobody\":1}]} # column nobody: got a value for it"
      })
  void whatARequestMayNotHoldIsRefused(String body, String message) {
    assertThatExceptionOfType(RefusedException.class)
        .isThrownBy(() -> rows(body))
        .withMessageContaining(message)
        .matches(fault -> fault.status() == 400);
  }

  @Test
  void tooManyUsersItemsOrScoresAreRefused() {
    String users = "{},".repeat(1_000) + "{}";
    assertThatExceptionOfType(RefusedException.class)
        .isThrownBy(() -> rows("{\"instances\":[" + users + "]}"))
        .withMessageContaining("got 1,001 users for 10 items each, expected at most 1,000 users");
    assertThatExceptionOfType(RefusedException.class)
        .isThrownBy(() ->
            rows("{\"instances\":[" + "{},".repeat(200) + "{}],\"parameters\":{\"top_k\":5000}}"))
        .withMessageContaining("1,000,000 items in all");
    assertThatExceptionOfType(RefusedException.class)
        .isThrownBy(() ->
            tensors(
                "{\"inputs\":[{\"name\":\"user\",\"shape\":[1],\"datatype\":\"INT64\",\"data\":[0]}],\"outputs\":[{\"name\":\"probability\"}]}"))
        .withMessageContaining("outputs: got probability, expected items, scores or found");
    assertThatExceptionOfType(RefusedException.class)
        .isThrownBy(() ->
            tensors(
                "{\"inputs\":[{\"name\":\"user\",\"shape\":[1],\"datatype\":\"INT64\",\"data\":[0]}],\"outputs\":[{\"name\":\"items\"},{\"name\":\"items\"}]}"))
        .withMessageContaining("outputs: got items twice, expected it once");
  }

  /** Memory of a size that notes the most that was taken of it. */
  private static final class Counted implements RequestMemory {
    private final long room;
    private long held;
    private long most;

    Counted(long room) {
      this.room = room;
    }

    @Override
    public boolean take(long bytes) {
      if (held + bytes > room) {
        return false;
      }
      held += bytes;
      most = Math.max(most, held);
      return true;
    }

    @Override
    public void give(long bytes) {
      held -= bytes;
    }
  }

  private static Reply rows(Counted memory, String body) {
    byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
    return new RetrieveProtocol(new RequestContexts(memory)).rows(version, bytes, bytes.length);
  }

  @Test
  void itemsFoundThoseLeftOutAndTheAnswerCountInTheMemoryOfRequests() {
    String users = "{},".repeat(899) + "{}";
    List<String> bodies =
        List.of(
            "{\"instances\":[%s],\"parameters\":{\"top_k\":12}}".formatted(users),
            "{\"instances\":[{}],\"exclude\":[%s7]}".formatted("7,".repeat(9_999)));
    List<String> refusals = List.of("for which no memory is left", "exclude: got more items than");
    List<Long> least = List.of(900L * 12 * 16, 10_000L * 12);
    for (int i = 0; i < 2; i++) {
      String body = bodies.get(i);
      Counted memory = new Counted(Long.MAX_VALUE);
      assertThat(rows(memory, body).status()).isEqualTo(200);
      assertThat(memory.most).isGreaterThan(least.get(i));
      assertThat(memory.held).isZero();
      assertThat(rows(new Counted(memory.most), body).status()).isEqualTo(200);
      for (long room : new long[] {0, memory.most - 1}) {
        Counted small = new Counted(room);
        assertThatExceptionOfType(RefusedException.class)
            .isThrownBy(() -> rows(small, body))
            .withMessageContaining("memory is left")
            .matches(fault -> fault.status() == 503);
        assertThat(small.held).isZero();
      }
      String refusal = refusals.get(i);
      assertThatExceptionOfType(RefusedException.class)
          .isThrownBy(() -> rows(new Counted(0), body))
          .withMessageContaining(refusal);
    }
  }

  @Test
  void damagedBodiesAreAnsweredOrRefused() {
    List<RequestBodies.Body> whole = new ArrayList<>();
    for (String body :
        List.of(
            "{\"instances\":[%s,%s],\"exclude\":[[\"a\",7],[]],\"parameters\":{\"top_k\":3}}"
                .formatted(row(0), row(1)),
            "{\"inputs\":[{\"name\":\"user\",\"shape\":[1],\"datatype\":\"INT64\",\"data\":[0]}],\"exclude\":[\"a\"],\"outputs\":[{\"name\":\"items\"}],\"parameters\":{\"top_k\":2,\"binary_data_output\":true}}")) {
      whole.add(new RequestBodies.Body(body.getBytes(StandardCharsets.UTF_8), OptionalInt.empty()));
    }
    MutatedBodies bodies = new MutatedBodies(whole);
    int answered = 0;
    for (long seed = 0; seed < 4_000; seed++) {
      byte[] body = bodies.of(seed).bytes();
      for (boolean rows : new boolean[] {true, false}) {
        try {
          Reply reply =
              rows
                  ? retrieve.rows(version, body, body.length)
                  : retrieve.tensors(version, body, body.length, OptionalInt.empty());
          assertThat(reply.status()).isEqualTo(200);
          answered++;
        } catch (RefusedException e) {
          assertThat(e.status()).isBetween(400, 499);
        } catch (RuntimeException | Error e) {
          throw new AssertionError("seed " + seed, e);
        }
      }
    }
    assertThat(answered).isBetween(20, 7_980);
  }

  @Test
  void aModelWithoutCandidatesAndARequestForScoresAreTold() {
    ServedVersion none = new ServedVersion("m", 3, version.scorer());
    assertThatExceptionOfType(RefusedException.class)
        .isThrownBy(() -> retrieve.rows(none, new byte[0], 0))
        .withMessageContaining("model m: got a request for items");
    byte[] body = "{\"instances\":[{}],\"exclude\":[]}".getBytes(StandardCharsets.UTF_8);
    assertThatExceptionOfType(RefusedException.class)
        .isThrownBy(
            () -> new PredictProtocol(new RequestContexts()).predict(version, body, body.length))
        .withMessageContaining("got exclude, expected it in requests for items alone");
  }
}
