package dev.tern.serve;

import dev.tern.base.Shown;
import dev.tern.data.encode.RowFiller;
import dev.tern.serve.wire.JsonBody;
import dev.tern.serve.wire.JsonValues;
import dev.tern.serve.wire.RefusedException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;

/**
 * A body that has rows as objects, as arrays below names, or columns as arrays. What is in the way
 * is skipped and read when its turn comes, so that members may come in any order.
 */
final class PredictRequest {
  private final RequestContext context;
  private final RowFiller filler;
  private final byte[] body;
  private final int length;
  private final boolean invocation;

  private Form form = Form.NONE;

  /** Where the rows begin. */
  private int at;

  private boolean hasContext;

  /** Whether rows were read before what is for all of them, and have to be read again. */
  private boolean again;

  private enum Form {
    NONE,
    ROWS,
    COLUMNS,
    SPLIT
  }

  PredictRequest(RequestContext context, byte[] body, int length, boolean invocation) {
    this.context = context;
    filler = context.filler;
    this.body = body;
    this.length = length;
    this.invocation = invocation;
  }

  /** Whether the columns came as arrays. */
  boolean byColumn() {
    return form == Form.COLUMNS;
  }

  /** Fills the rows of the context. */
  void read() {
    context.options.clear();
    context.rows.clear();
    context.once.clear();
    try (JsonParser json = JsonBody.parser(body, length)) {
      JsonToken first = json.nextToken();
      if (first == null) {
        throw new RefusedException(400, "JSON Parse error: The document is empty");
      }
      if (first != JsonToken.START_OBJECT) {
        throw JsonBody.wrong("body", first, "an object");
      }
      while (json.nextToken() != JsonToken.END_OBJECT) {
        member(json, json.currentName());
      }
      JsonBody.requireEnd(json);
    }
    if (form == Form.NONE) {
      throw new RefusedException(400, "Missing 'inputs' or 'instances' key");
    }
    if (again) {
      try (JsonParser json = JsonBody.parser(body, at, length)) {
        json.nextToken();
        fill(json, at);
      }
    }
    end();
  }

  private void member(JsonParser json, String name) {
    json.nextToken();
    switch (name) {
      case "instances" -> rows(json, Form.ROWS);
      case "inputs" -> rows(json, Form.COLUMNS);
      case "dataframe_records" -> {
        requireInvocation(name);
        rows(json, Form.ROWS);
      }
      case "dataframe_split" -> {
        requireInvocation(name);
        rows(json, Form.SPLIT);
      }
      case "context" -> {
        if (hasContext) {
          throw JsonBody.wrong("context twice", "it once");
        }
        hasContext = true;
        context.onceFiller.begin(context.once);
        row(json, context.onceFiller, "context");
        context.onceFiller.endOnce();
        again = form == Form.ROWS || form == Form.SPLIT;
      }
      case "exclude" -> ExcludedItems.read(context, json);
      case "signature_name" -> json.skipChildren();
      case "parameters", "params" -> OptionsReader.read(json, context.options);
      default ->
          throw JsonBody.wrong(
              Shown.line(JsonBody.shorten(name)), "instances, inputs, context or parameters");
    }
  }

  private void requireInvocation(String name) {
    if (!invocation) {
      throw JsonBody.wrong(name, "instances or inputs");
    }
  }

  private void rows(JsonParser json, Form of) {
    if (form != Form.NONE) {
      throw JsonBody.wrong("rows twice", "either 'inputs' or 'instances'");
    }
    form = of;
    at = (int) json.currentTokenLocation().getByteOffset();
    fill(json, 0);
  }

  /**
   * Reads the rows that the parser stands at.
   *
   * @param origin where the text of the parser begins in the body
   */
  private void fill(JsonParser json, int origin) {
    if (form == Form.COLUMNS) {
      columns(json, origin);
      return;
    }
    context.rows.clear();
    filler.begin(context.rows);
    if (hasContext) {
      filler.beginRepeated(context.onceFiller);
    }
    if (form == Form.SPLIT) {
      new SplitRows(context, body, length).read(json, origin);
      return;
    }
    if (json.currentToken() != JsonToken.START_ARRAY) {
      throw JsonBody.wrong("instances", json.currentToken(), "an array of objects");
    }
    while (json.nextToken() != JsonToken.END_ARRAY) {
      RequestContext.requireRows(context.rows.size() + 1L);
      row(json, filler, "instances");
      filler.endRow();
    }
  }

  private void end() {
    if (form == Form.COLUMNS) {
      if (hasContext) {
        filler.beginRepeated(context.onceFiller);
      }
      filler.endColumns();
    }
    if (hasContext) {
      context.requireRepeated(context.rows.size());
      filler.endRepeated(context.once);
    }
  }

  private void row(JsonParser json, RowFiller target, String what) {
    if (json.currentToken() != JsonToken.START_OBJECT) {
      throw JsonBody.wrong(what, json.currentToken(), "an object from columns to values");
    }
    context.order.begin();
    while (json.nextToken() != JsonToken.END_OBJECT) {
      int column = context.order.column(target, json.currentName());
      json.nextToken();
      JsonValues.set(json, target, column);
    }
  }

  /** Columns of as many values each as the first has. */
  private void columns(JsonParser json, int origin) {
    if (json.currentToken() != JsonToken.START_OBJECT) {
      throw JsonBody.wrong("inputs", json.currentToken(), "an object from columns to arrays");
    }
    boolean begun = false;
    while (json.nextToken() != JsonToken.END_OBJECT) {
      int column = JsonValues.column(filler, json.currentName());
      JsonBody.expect(json, JsonToken.START_ARRAY, filler.name(column));
      if (!begun) {
        begun = true;
        int place = origin + (int) json.currentTokenLocation().getByteOffset();
        filler.beginColumns(context.rows, count(place));
      }
      filler.beginColumn(column);
      while (json.nextToken() != JsonToken.END_ARRAY) {
        JsonValues.set(json, filler, column);
      }
      filler.endColumn(column);
    }
    if (!begun) {
      filler.beginColumns(context.rows, 0);
    }
  }

  /** The values of the array that begins at a place of the body. */
  private int count(int place) {
    int count = 0;
    try (JsonParser ahead = JsonBody.parser(body, place, length)) {
      ahead.nextToken();
      while (ahead.nextToken() != JsonToken.END_ARRAY) {
        ahead.skipChildren();
        RequestContext.requireRows(++count);
      }
    }
    return count;
  }
}
