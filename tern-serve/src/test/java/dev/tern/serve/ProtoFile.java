package dev.tern.serve;

import com.google.protobuf.DescriptorProtos.DescriptorProto;
import com.google.protobuf.DescriptorProtos.FieldDescriptorProto;
import com.google.protobuf.DescriptorProtos.FieldDescriptorProto.Label;
import com.google.protobuf.DescriptorProtos.FieldDescriptorProto.Type;
import com.google.protobuf.DescriptorProtos.FileDescriptorProto;
import com.google.protobuf.DescriptorProtos.MessageOptions;
import com.google.protobuf.DescriptorProtos.OneofDescriptorProto;
import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.DescriptorValidationException;
import com.google.protobuf.Descriptors.FileDescriptor;
import com.google.protobuf.DynamicMessage;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The messages of a file {@code .proto} for protobuf-java, without protoc: as much of the language
 * as {@code docs/inference.proto} needs.
 */
public final class ProtoFile {
  private static final Pattern TOKEN = Pattern.compile("\"[^\"]*\"|[A-Za-z0-9_.]+|[{}<>=;,()]");

  private final Iterator<String> tokens;
  private final FileDescriptorProto.Builder file = FileDescriptorProto.newBuilder();

  private ProtoFile(String text) {
    List<String> all = new ArrayList<>();
    Matcher matcher = TOKEN.matcher(text.replaceAll("//.*", ""));
    while (matcher.find()) {
      all.add(matcher.group());
    }
    tokens = all.iterator();
  }

  /** The file that users of the protocol are given. */
  public static FileDescriptor inference() {
    try {
      return parse(Files.readString(Path.of("../docs/inference.proto")));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** A file by its text. */
  public static FileDescriptor parse(String text) {
    ProtoFile parser = new ProtoFile(text);
    parser.file.setName("test.proto").setSyntax("proto3");
    while (parser.tokens.hasNext()) {
      switch (parser.next()) {
        case "syntax" -> parser.skipTo(";");
        case "package" -> {
          parser.file.setPackage(parser.next());
          parser.skipTo(";");
        }
        case "service" -> parser.skipBlock();
        case "message" -> parser.file.addMessageType(parser.message());
        default -> throw new IllegalArgumentException("proto: got another word");
      }
    }
    try {
      return FileDescriptor.buildFrom(parser.file.build(), new FileDescriptor[0]);
    } catch (DescriptorValidationException e) {
      throw new IllegalArgumentException(e);
    }
  }

  /** A message by the bytes of it. */
  public static DynamicMessage read(Descriptor type, byte[] bytes, int from) {
    try {
      return DynamicMessage.parseFrom(
          type, com.google.protobuf.CodedInputStream.newInstance(bytes, from, bytes.length - from));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private String next() {
    return tokens.next();
  }

  private void skipTo(String token) {
    while (!next().equals(token)) {
      continue;
    }
  }

  private void skipBlock() {
    int depth = 0;
    do {
      String token = next();
      depth += token.equals("{") ? 1 : token.equals("}") ? -1 : 0;
      if (depth == 0 && token.equals("}")) {
        return;
      }
    } while (true);
  }

  private DescriptorProto message() {
    DescriptorProto.Builder message = DescriptorProto.newBuilder().setName(next());
    skipTo("{");
    fields(message, -1);
    return message.build();
  }

  private void fields(DescriptorProto.Builder message, int oneof) {
    for (String word = next(); !word.equals("}"); word = next()) {
      switch (word) {
        case "message" -> message.addNestedType(message());
        case "oneof" -> {
          message.addOneofDecl(OneofDescriptorProto.newBuilder().setName(next()));
          skipTo("{");
          fields(message, message.getOneofDeclCount() - 1);
        }
        case "map" -> map(message);
        case "repeated" -> message.addField(field(next(), Label.LABEL_REPEATED));
        default -> {
          FieldDescriptorProto.Builder field = field(word, Label.LABEL_OPTIONAL);
          message.addField(oneof < 0 ? field : field.setOneofIndex(oneof));
        }
      }
    }
  }

  private FieldDescriptorProto.Builder field(String type, Label label) {
    FieldDescriptorProto.Builder field =
        FieldDescriptorProto.newBuilder().setName(next()).setLabel(label);
    skipTo("=");
    field.setNumber(Integer.parseInt(next()));
    skipTo(";");
    return typed(field, type);
  }

  private static FieldDescriptorProto.Builder typed(
      FieldDescriptorProto.Builder field, String type) {
    for (Type each : Type.values()) {
      if (each.name().equals("TYPE_" + type.toUpperCase(Locale.ROOT))) {
        return field.setType(each);
      }
    }
    return field.setTypeName(type);
  }

  private void map(DescriptorProto.Builder message) {
    skipTo("<");
    String key = next();
    skipTo(",");
    String value = next();
    skipTo(">");
    FieldDescriptorProto.Builder field = field("none", Label.LABEL_REPEATED);
    String entry = field.getName().substring(0, 1).toUpperCase(Locale.ROOT);
    entry += field.getName().substring(1) + "Entry";
    message.addNestedType(
        DescriptorProto.newBuilder()
            .setName(entry)
            .setOptions(MessageOptions.newBuilder().setMapEntry(true))
            .addField(entryField("key", 1, key))
            .addField(entryField("value", 2, value)));
    message.addField(field.setTypeName(entry));
  }

  private static FieldDescriptorProto.Builder entryField(String name, int number, String type) {
    return typed(
        FieldDescriptorProto.newBuilder()
            .setName(name)
            .setNumber(number)
            .setLabel(Label.LABEL_OPTIONAL),
        type);
  }
}
