package dev.tern.files.parquet;

import java.util.SplittableRandom;
import org.apache.parquet.example.data.Group;
import org.apache.parquet.io.api.Binary;

/** Rows of columns of every kind, nested and not, drawn from a seed, for parquet-java to write. */
final class NestedRows {
  /** The columns, as parquet-java reads a schema. */
  static final String FIELDS =
      """
      required int32 row;
      optional int32 narrow (UINT_8);
      optional int64 wide;
      required int64 steady (TIMESTAMP(MICROS,true));
      optional int96 ancient;
      optional float f;
      optional double d;
      optional boolean b;
      required binary word (STRING);
      optional binary bytes;
      optional fixed_len_byte_array(5) price (DECIMAL(10,2));
      required fixed_len_byte_array(2) half (FLOAT16);
      optional group bag (LIST) { repeated group list { optional int64 element; } }
      optional group lists (LIST) { repeated group list { optional group element (LIST) {
        repeated group list { optional binary element (STRING); } } } }
      optional group map (MAP) { repeated group key_value {
        required binary key (STRING); optional double value; } }
      repeated int32 bare;
      optional group deep { required group deeper { optional int32 bottom; repeated boolean on; } }
      repeated group structs { required int32 a; optional group in { optional binary c; } }
      optional int32 nothing;
      """;

  private NestedRows() {}

  static void fill(Group group, int row, SplittableRandom random) {
    boolean calm = row / 400 % 2 == 0;
    group.add("row", row);
    if (random.nextInt(4) > 0) {
      group.add("narrow", random.nextInt(256));
      group.add("wide", calm ? 1L << 40 : random.nextLong() >> random.nextInt(64));
      group.add("f", calm ? 2.5f : (float) random.nextGaussian());
      group.add("b", random.nextBoolean());
      group.add("bytes", Binary.fromConstantByteArray(bytes(random, random.nextInt(30))));
    }
    group.add("steady", 1_769_848_200_000_000L + 1000L * row);
    if (random.nextInt(3) > 0) {
      group.add("ancient", Binary.fromConstantByteArray(bytes(random, 12)));
      group.add("d", random.nextGaussian());
      group.add("price", Binary.fromConstantByteArray(bytes(random, 5)));
    }
    group.add("word", "word " + (calm ? row / 10 : random.nextInt(2000)));
    group.add("half", Binary.fromConstantByteArray(bytes(random, 2)));
    fillNested(group, random);
    for (int i = random.nextInt(calm ? 1 : 4); i > 0; i--) {
      group.add("bare", random.nextInt(100));
    }
  }

  private static void fillNested(Group group, SplittableRandom random) {
    if (random.nextInt(5) > 0) {
      Group bag = group.addGroup("bag");
      int most = random.nextInt(300) == 0 ? 3000 : 4;
      for (int i = random.nextInt(most); i > 0; i--) {
        Group element = bag.addGroup("list");
        if (random.nextInt(7) > 0) {
          element.add("element", random.nextLong(1000));
        }
      }
      Group lists = group.addGroup("lists");
      for (int i = random.nextInt(3); i > 0; i--) {
        Group inner = lists.addGroup("list");
        if (random.nextBoolean()) {
          Group list = inner.addGroup("element");
          for (int k = random.nextInt(3); k > 0; k--) {
            list.addGroup("list").add("element", "t" + random.nextInt(50));
          }
        }
      }
      Group deeper = group.addGroup("deep").addGroup("deeper");
      for (int i = random.nextInt(3); i > 0; i--) {
        deeper.add("on", random.nextBoolean());
      }
    }
    if (random.nextInt(3) > 0) {
      Group map = group.addGroup("map");
      for (int i = random.nextInt(3); i > 0; i--) {
        Group entry = map.addGroup("key_value");
        entry.add("key", "k" + i);
        entry.add("value", random.nextDouble());
      }
    }
    for (int i = random.nextInt(3); i > 0; i--) {
      Group struct = group.addGroup("structs");
      struct.add("a", i);
      if (random.nextBoolean()) {
        struct.addGroup("in").add("c", "c" + random.nextInt(9));
      }
    }
  }

  private static byte[] bytes(SplittableRandom random, int count) {
    byte[] bytes = new byte[count];
    random.nextBytes(bytes);
    return bytes;
  }
}
