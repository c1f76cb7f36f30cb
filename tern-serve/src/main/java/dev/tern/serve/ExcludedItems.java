package dev.tern.serve;

import dev.tern.data.Batch;
import dev.tern.data.encode.FeatureEncoder;
import dev.tern.data.encode.RowFiller;
import dev.tern.serve.wire.JsonBody;
import dev.tern.serve.wire.JsonValues;
import dev.tern.serve.wire.RefusedException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;

/**
 * The member {@code exclude} of a request for items: an array of items that no user is to be given,
 * or an array with such an array for each user. An item is written as in rows.
 */
final class ExcludedItems {
  private static final long[] NONE = {};
  private static final int LEAST = 16;

  /** Of an item: its id, and its number. */
  private static final int ITEM_BYTES = Long.BYTES + Integer.BYTES;

  private final RequestContext context;
  private final RowFiller filler;
  private final Batch one;
  private final int slot;
  private final int column;

  /** Raw ids: of all users, or of each. */
  private final List<long[]> lists = new ArrayList<>();

  private boolean isGiven;
  private boolean isOfAll;

  /**
   * @param slot of raw rows whose ids name items
   */
  ExcludedItems(RequestContext context, int slot) {
    this.context = context;
    FeatureEncoder encoder = context.encoder;
    filler = encoder.filler();
    one = new Batch(encoder.rawSchema(), 1);
    this.slot = slot;
    column = filler.column(encoder.rawSchema().slotNames().get(slot));
  }

  /** Reads the member of a request for items; refuses it in others. */
  static void read(RequestContext context, JsonParser json) {
    ExcludedItems excluded = context.excluded;
    if (excluded == null) {
      throw JsonBody.wrong("exclude", "it in requests for items alone");
    }
    excluded.read(json);
  }

  static void clear(RequestContext context) {
    ExcludedItems excluded = context.excluded;
    if (excluded != null) {
      excluded.isGiven = false;
      excluded.isOfAll = false;
      excluded.lists.clear();
    }
  }

  private void read(JsonParser json) {
    if (isGiven) {
      throw JsonBody.wrong("exclude twice", "it once");
    }
    isGiven = true;
    requireArray(json);
    if (json.nextToken() != JsonToken.START_ARRAY) {
      isOfAll = true;
      lists.add(list(json));
      return;
    }
    while (json.currentToken() != JsonToken.END_ARRAY) {
      requireArray(json);
      RequestContext.requireRows(lists.size() + 1L);
      json.nextToken();
      lists.add(list(json));
      json.nextToken();
    }
  }

  private static void requireArray(JsonParser json) {
    if (json.currentToken() != JsonToken.START_ARRAY) {
      throw JsonBody.wrong(
          "exclude", json.currentToken(), "an array of items, or one of such arrays");
    }
  }

  /** The items up to the end of the array whose first token is at hand. */
  private long[] list(JsonParser json) {
    long[] ids = NONE;
    int count = 0;
    for (; json.currentToken() != JsonToken.END_ARRAY; json.nextToken()) {
      if (count == ids.length) {
        int more = Math.max(LEAST, count);
        requireRoom(more);
        ids = Arrays.copyOf(ids, count + more);
      }
      ids[count++] = id(json);
    }
    return Arrays.copyOf(ids, count);
  }

  private void requireRoom(int items) {
    if (!context.holds((long) ITEM_BYTES * items)) {
      throw new RefusedException(
          503, "exclude: got more items than memory is left for; ask again, or leave out fewer");
    }
  }

  private long id(JsonParser json) {
    boolean isItem =
        json.currentToken() == JsonToken.VALUE_STRING
            || json.currentToken() == JsonToken.VALUE_NUMBER_INT;
    if (!isItem) {
      throw JsonBody.wrong("exclude", json.currentToken(), "a text or an integer for each item");
    }
    one.clear();
    filler.begin(one);
    try {
      JsonValues.set(json, filler, column);
      filler.endRow();
    } catch (RefusedException | IllegalArgumentException e) {
      filler.abandonRow();
      throw new RefusedException(400, "exclude: " + e.getMessage());
    }
    return one.idCount(slot) == 0 ? -1 : one.ids(slot)[0];
  }

  /**
   * The numbers of the items for each user, ascending; those that are no candidates are left out.
   *
   * @throws RefusedException if there is a list for each of other than {@code users} users
   */
  int[][] numbers(ServedVersion.Items items, int users) {
    if (isGiven && !isOfAll && lists.size() != users) {
      throw JsonBody.wrong(
          "exclude with " + lists.size() + " lists", "one for each of the " + users + " rows");
    }
    int[][] numbers = new int[isGiven ? users : 0][];
    for (int user = 0; user < numbers.length; user++) {
      numbers[user] =
          isOfAll && user > 0 ? numbers[0] : numbers(items, lists.get(isOfAll ? 0 : user));
    }
    return numbers;
  }

  private static int[] numbers(ServedVersion.Items items, long[] ids) {
    return Arrays.stream(ids)
        .mapToInt(items::find)
        .filter(n -> n >= 0)
        .sorted()
        .distinct()
        .toArray();
  }
}
