package dev.tern.onnx;

import java.util.List;

/** An attribute of a node (AttributeProto of onnx.proto). */
record Attribute(String name, Message value) {
  private static final int NAME = 1;
  private static final int TYPE = 20;

  private static Attribute of(String name, int type, Message value) {
    Message all = new Message().text(NAME, name);
    value.number(TYPE, type);
    return new Attribute(name, all.all(value));
  }

  static Attribute integer(String name, long value) {
    return of(name, 2, new Message().number(3, value));
  }

  static Attribute text(String name, String value) {
    return of(name, 3, new Message().text(4, value));
  }

  static Attribute integers(String name, long... values) {
    return of(name, 7, new Message().numbers(8, values));
  }

  static Attribute texts(String name, List<String> values) {
    Message all = new Message();
    values.forEach(value -> all.text(9, value));
    return of(name, 8, all);
  }
}
