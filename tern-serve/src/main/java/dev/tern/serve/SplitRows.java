package dev.tern.serve;

import dev.tern.base.Shown;
import dev.tern.data.encode.RowFiller;
import dev.tern.serve.wire.JsonBody;
import dev.tern.serve.wire.JsonValues;
import java.util.Arrays;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;

/** Rows as pandas has them with {@code orient="split"}: names of columns, then arrays of values. */
final class SplitRows {
  private static final int NONE = -1;

  private final RequestContext context;
  private final byte[] body;
  private final int length;
  private int[] columns = {};

  SplitRows(RequestContext context, byte[] body, int length) {
    this.context = context;
    this.body = body;
    this.length = length;
  }

  /**
   * Appends the rows of the object that the parser stands at, whose parts may come in any order.
   *
   * @param origin where the text of the parser begins in the body
   */
  void read(JsonParser json, int origin) {
    if (json.currentToken() != JsonToken.START_OBJECT) {
      throw JsonBody.wrong("dataframe_split", json.currentToken(), "an object");
    }
    int dataAt = NONE;
    boolean read = false;
    while (json.nextToken() != JsonToken.END_OBJECT) {
      String name = json.currentName();
      json.nextToken();
      switch (name) {
        case "columns" -> readColumns(json);
        case "data" -> {
          if (dataAt != NONE) {
            throw JsonBody.wrong("data twice in dataframe_split", "it once");
          }
          dataAt = origin + (int) json.currentTokenLocation().getByteOffset();
          read = columns.length > 0;
          if (read) {
            readRows(json);
          } else {
            json.skipChildren();
          }
        }
        case "index" -> json.skipChildren();
        default ->
            throw JsonBody.wrong(
                Shown.line(JsonBody.shorten(name)) + " in dataframe_split",
                "columns, index and data");
      }
    }
    if (columns.length == 0 || dataAt == NONE) {
      throw JsonBody.wrong("dataframe_split without columns or data", "both");
    }
    if (!read) {
      try (JsonParser data = JsonBody.parser(body, dataAt, length)) {
        data.nextToken();
        readRows(data);
      }
    }
  }

  private void readColumns(JsonParser json) {
    if (json.currentToken() != JsonToken.START_ARRAY || columns.length > 0) {
      throw JsonBody.wrong("columns", json.currentToken(), "an array of names, once");
    }
    int[] numbers = new int[context.filler.columns() + 1];
    int count = 0;
    while (json.nextToken() != JsonToken.END_ARRAY) {
      if (json.currentToken() != JsonToken.VALUE_STRING || count == numbers.length) {
        throw JsonBody.wrong("columns", json.currentToken(), "the names of columns");
      }
      numbers[count++] = JsonValues.column(context.filler, json.getString());
    }
    columns = Arrays.copyOf(numbers, count);
  }

  private void readRows(JsonParser json) {
    if (json.currentToken() != JsonToken.START_ARRAY) {
      throw JsonBody.wrong("data", json.currentToken(), "an array of rows");
    }
    RowFiller filler = context.filler;
    while (json.nextToken() != JsonToken.END_ARRAY) {
      RequestContext.requireRows(context.rows.size() + 1L);
      if (json.currentToken() != JsonToken.START_ARRAY) {
        throw JsonBody.wrong(filler.place() + "data", json.currentToken(), "an array of values");
      }
      int count = 0;
      while (json.nextToken() != JsonToken.END_ARRAY) {
        if (count == columns.length) {
          throw JsonBody.wrong(filler.place() + "more values", columns.length + " as names");
        }
        JsonValues.set(json, filler, columns[count++]);
      }
      if (count < columns.length) {
        throw JsonBody.wrong(
            filler.place() + count + " values", "as many as names, " + columns.length);
      }
      filler.endRow();
    }
  }
}
