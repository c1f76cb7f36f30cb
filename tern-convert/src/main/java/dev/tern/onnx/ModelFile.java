package dev.tern.onnx;

import dev.tern.base.DataException;
import dev.tern.internal.checkpoint.AtomicFolder;
import java.io.BufferedOutputStream;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * Writes a model (ModelProto of onnx.proto, IR 8, opset 18) as it comes, without a copy in memory.
 * Where tensors are larger than fits, those of some size lie in a file beside it, whose name ends
 * in {@code .data}, each from a multiple of {@value #ALIGNMENT} bytes on. Both appear whole or not
 * at all.
 */
final class ModelFile {
  static final int IR_VERSION = 8;
  static final int OPSET = 18;
  static final int ML_OPSET = 3;
  private static final int ALIGNMENT = 4096;
  private static final int BUFFER = 1 << 16;

  /** The most bytes of a protocol buffer. */
  private static final long MOST_BYTES = Integer.MAX_VALUE;

  private final Graph graph;
  private final String name;
  private final Map<String, String> metadata;
  private final long inlineBytes;
  private final long mostBytes;

  /**
   * @param name of the graph
   * @param metadata texts by key
   * @param inlineBytes {@link OnnxOptions#inlineBytes}
   */
  ModelFile(Graph graph, String name, Map<String, String> metadata, long inlineBytes) {
    this(graph, name, metadata, inlineBytes, MOST_BYTES);
  }

  /** With another limit for the model file itself. */
  ModelFile(
      Graph graph, String name, Map<String, String> metadata, long inlineBytes, long mostBytes) {
    this.mostBytes = mostBytes;
    this.graph = graph;
    this.name = name;
    this.metadata = new LinkedHashMap<>(metadata);
    this.inlineBytes = inlineBytes;
  }

  /** Where a tensor lies in the file beside the model. */
  record Place(String file, long offset, long length) {}

  /**
   * Writes the model.
   *
   * @param check throws where what was written is of no use after all; then nothing stays
   * @return bytes of the file beside it; 0 if there is none
   * @throws DataException if something is at {@code target}, or where the other file would be
   */
  long write(Path target, Runnable check) {
    Map<String, Place> places =
        places(graph.constants(), target.getFileName() + ".data", inlineBytes);
    Path data = target.resolveSibling(target.getFileName() + ".data");
    boolean[] hasData = {false};
    try {
      AtomicFolder.writeNew(
          target,
          writing -> {
            if (!places.isEmpty()) {
              AtomicFolder.writeNew(data, file -> writeAll(file, out -> tensors(out, places)));
              hasData[0] = true;
            }
            writeAll(writing, out -> model(out, places));
            check.run();
          });
    } catch (RuntimeException | Error e) {
      if (hasData[0]) {
        remove(data, e);
      }
      throw e;
    }
    return places.values().stream().mapToLong(place -> place.offset + place.length).max().orElse(0);
  }

  private static void remove(Path data, Throwable because) {
    try {
      Files.deleteIfExists(data);
    } catch (IOException e) {
      because.addSuppressed(e);
    }
  }

  /** Writes bytes of a file. */
  @FunctionalInterface
  private interface Writing {
    void writeTo(Counted out) throws IOException;
  }

  private static void writeAll(Path file, Writing content) {
    try (Counted out = new Counted(new BufferedOutputStream(Files.newOutputStream(file), BUFFER))) {
      content.writeTo(out);
    } catch (IOException e) {
      throw AtomicFolder.unwritten(file, e);
    } catch (UncheckedIOException e) {
      throw AtomicFolder.unwritten(file, Objects.requireNonNull(e.getCause()));
    }
  }

  /** Where tensors lie in a file beside the model, if they are more than fits. */
  static Map<String, Place> places(List<Constant> constants, String file, long inlineBytes) {
    Map<String, Place> places = new LinkedHashMap<>();
    long all = constants.stream().mapToLong(Constant::bytes).sum();
    if (all <= inlineBytes) {
      return places;
    }
    long at = 0;
    for (Constant constant : constants) {
      if (constant.bytes() >= OnnxOptions.LEAST_EXTERNAL) {
        places.put(constant.name(), new Place(file, at, constant.bytes()));
        at += (constant.bytes() + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
      }
    }
    return places;
  }

  private void tensors(Counted out, Map<String, Place> places) throws IOException {
    for (Constant constant : graph.constants()) {
      Place place = places.get(constant.name());
      if (place != null) {
        out.write(new byte[Math.toIntExact(place.offset - out.count)]);
        content(constant, out);
      }
    }
  }

  private static void content(Constant constant, Counted out) throws IOException {
    long before = out.count;
    constant.content().writeTo(out);
    long written = out.count - before;
    if (written != constant.bytes()) {
      throw new DataException(
          "onnx: got %d bytes of %s, expected %d as when it was opened; the checkpoint changed meanwhile, export again"
              .formatted(written, constant.name(), constant.bytes()));
    }
  }

  private void model(Counted out, Map<String, Place> places) throws IOException {
    Message head = new Message().number(1, IR_VERSION).text(2, "tern").text(3, "0.1.0-SNAPSHOT");
    Message tail = tail();
    List<Constant> constants = graph.constants();
    Message end = new Message().all(graph.inputs()).all(graph.outputs());
    Message title = new Message().text(2, name);
    long size = graph.nodes().size() + (long) title.size() + end.size();
    for (Constant constant : constants) {
      long tensor = tensorHead(constant, places).size() + inlined(constant, places);
      size += new Message().length(5, tensor).size() + tensor;
    }
    head.length(7, size);
    if (head.size() + size + tail.size() > mostBytes) {
      throw new DataException(
          "onnx: got a model file of %d bytes, expected at most %d; let fewer bytes of tables lie in it (--inline-bytes), or export with ids found by the caller (--ids caller), as vocabularies lie in it"
              .formatted(head.size() + size + tail.size(), mostBytes));
    }
    out.write(head.toByteArray());
    out.write(graph.nodes().toByteArray());
    out.write(title.toByteArray());
    for (Constant constant : constants) {
      Message tensor = tensorHead(constant, places);
      long bytes = inlined(constant, places);
      out.write(new Message().length(5, tensor.size() + bytes).toByteArray());
      out.write(tensor.toByteArray());
      if (bytes > 0) {
        content(constant, out);
      }
    }
    out.write(end.toByteArray());
    out.write(tail.toByteArray());
  }

  private static long inlined(Constant constant, Map<String, Place> places) {
    return places.containsKey(constant.name()) ? 0 : constant.bytes();
  }

  /** A tensor without the bytes that follow it. */
  private static Message tensorHead(Constant constant, Map<String, Place> places) {
    Message tensor =
        new Message()
            .numbers(1, constant.dims())
            .number(2, constant.type().number())
            .text(8, constant.name());
    Place place = places.get(constant.name());
    if (place == null) {
      return tensor.length(9, constant.bytes());
    }
    return tensor
        .message(13, entry("location", place.file))
        .message(13, entry("offset", Long.toString(place.offset)))
        .message(13, entry("length", Long.toString(place.length)))
        .number(14, 1);
  }

  private static Message entry(String key, String value) {
    return new Message().text(1, key).text(2, value);
  }

  private Message tail() {
    Message tail = new Message().message(8, new Message().text(1, "").number(2, OPSET));
    if (graph.usesMl()) {
      tail.message(8, new Message().text(1, "ai.onnx.ml").number(2, ML_OPSET));
    }
    metadata.forEach((key, value) -> tail.message(14, entry(key, value)));
    return tail;
  }

  /** Counts bytes. */
  private static final class Counted extends FilterOutputStream {
    private long count;

    Counted(OutputStream out) {
      super(out);
    }

    @Override
    public void write(int value) throws IOException {
      out.write(value);
      count++;
    }

    @Override
    public void write(byte[] bytes, int from, int length) throws IOException {
      out.write(bytes, from, length);
      count += length;
    }
  }
}
