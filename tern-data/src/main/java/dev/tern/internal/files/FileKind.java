package dev.tern.internal.files;

import dev.tern.base.DataException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Pattern;

/**
 * What a file is by its first bytes, whatever its name says. Messages name it where a reader
 * expected something else: a compressed file read as CSV would otherwise be one long wrong header.
 */
public enum FileKind {
  GZIP("a file compressed by gzip", "gunzip it first", "\u001f\u008b\b"),
  EXCEL("an Excel workbook", "save it as CSV first", "\u00d0\u00cf\u0011\u00e0\u00a1\u00b1"),
  ZIP("a zip archive", "unzip it first", "PK\3\4", "PK\5\6", "PK\7\b"),
  BZIP2("a file compressed by bzip2", "bunzip2 it first"),
  XZ("a file compressed by xz", "unxz it first", "\u00fd7zXZ\0"),
  ZSTD("a file compressed by zstd", "unzstd it first", "\u0028\u00b5\u002f\u00fd"),
  LZ4("a file compressed by lz4", "unlz4 it first", "\4\"M\u0018", "\2!L\u0018"),
  SEVEN_ZIP("a 7z archive", "unpack it first", "7z\u00bc\u00af\u0027\u001c"),
  RAR("a rar archive", "unpack it first", "Rar!\u001a\u0007"),
  SNAPPY("a file compressed by snappy", "decompress it first", "\u00ff\6\0\0sNaPpY"),
  COMPRESS("a file compressed by compress", "uncompress it first", "\u001f\u009d\u0090"),
  LZIP("a file compressed by lzip", "lzip -d it first", "LZIP\1", "LZIP\0"),
  LZOP("a file compressed by lzop", "lzop -d it first", "\u0089LZO\0\r\n\u001a"),
  TAR("a tar archive", "unpack it first"),
  PARQUET(
      "a Parquet file", "read it with --set data.format=parquet, or --format parquet of tern data"),
  ORC("an ORC file", "write its rows as Parquet or CSV first"),
  AVRO("an Avro file", "write its rows as Parquet or CSV first", "Obj\1"),
  ARROW("an Arrow or Feather file", "write its rows as Parquet first", "ARROW1\0\0", "FEA1\0"),
  HDF5("an HDF5 file", "write its rows as Parquet or CSV first", "\u0089HDF\r\n\u001a\n"),
  SQLITE("an SQLite database", "export its table as CSV first", "SQLite format 3\0"),
  NUMPY("a NumPy array", "write its rows as Parquet or CSV first", "\u0093NUMPY"),
  PDF("a PDF document", "give a file of rows", "%PDF-"),
  GIT_LFS(
      "a pointer of Git LFS in place of the file",
      "fetch the file, as git lfs pull does",
      "version https://git-lfs"),
  NORM("a HugeCTR Norm file", "read it with --set data.format=norm, or --format norm of tern data"),
  HTML("an HTML page", "download the file that the page is about"),
  XML("an XML document", "write its rows as CSV first"),
  JSON("JSON", "write its rows as CSV first"),
  UTF_32("text in UTF-32", "convert it, as iconv -f UTF-32 -t UTF-8 does"),
  UTF_16("text in UTF-16", "set data.encoding: utf-16"),
  BINARY("binary data", "check the path and the format"),
  CR_ENDS("text whose lines end in CR alone (\\r)", "convert it, as tr '\\r' '\\n' does"),
  OTHER("something else", "check the path and the format");

  /** Bytes of which {@link #of(Path)} knows a file. */
  private static final int HEAD = 1 << 10;

  private static final int LOOK = 512;

  /** An object with a name, in a list or not, whose first line ends as no row of CSV does. */
  private static final Pattern JSON_START =
      Pattern.compile(
          "[{\\[](?=[^\n]*[{\\[}\\],]\\s*(\n|\\z)|\\s)\\s*([{\\[]\\s*)?\"[^\"]*\"\\s*:");

  private final String got;
  private final String advice;
  private final String[] starts;

  /**
   * A kind with its name in a message.
   *
   * @param got what a message says that a file is
   * @param advice what to do with it
   * @param starts the first bytes, each a character; none where more than these must be looked at
   */
  FileKind(String got, String advice, String... starts) {
    this.got = got;
    this.advice = advice;
    this.starts = starts;
  }

  /** What a message says that a file of this kind is. Example: {@code a zip archive}. */
  public String got() {
    return got;
  }

  /** What to do with a file of this kind. Example: {@code unzip it first}. */
  public String advice() {
    return advice;
  }

  /** Whether files of this kind hold lines of text as readers take them, or nothing says not. */
  public boolean isLines() {
    return this == OTHER;
  }

  /**
   * Whether the first bytes, three or more, are a mark of the kind, which numbers and text of rows
   * do not have.
   */
  public boolean isCertain() {
    return ordinal() < NORM.ordinal();
  }

  /** The fault of {@code file}, of this kind, where {@code expected} was to be read. */
  public DataException refused(Path file, String expected) {
    return new DataException("%s: got %s, expected %s; %s".formatted(file, got, expected, advice));
  }

  /** The kind of {@code file}; {@link #OTHER} where it cannot be read. */
  public static FileKind of(Path file) {
    if (!Files.isRegularFile(file)) {
      return OTHER;
    }
    try (InputStream in = Files.newInputStream(file)) {
      byte[] head = in.readNBytes(HEAD);
      return of(head, head.length);
    } catch (IOException e) {
      return OTHER;
    }
  }

  /** The kind of a file whose first {@code length} bytes stand in {@code bytes}. */
  public static FileKind of(byte[] bytes, int length) {
    if (isText(bytes, length, 0, "PK\3\4") && isText(bytes, length, 30, "[Content_Types].xml")) {
      return EXCEL;
    }
    for (FileKind kind : values()) {
      for (String start : kind.starts) {
        if (isText(bytes, length, 0, start)) {
          return kind;
        }
      }
    }
    FileKind kind = container(bytes, length);
    kind = kind == OTHER ? encoding(bytes, length) : kind;
    kind = kind == OTHER ? markup(bytes, length) : kind;
    return kind == OTHER && endsInReturns(bytes, length) ? CR_ENDS : kind;
  }

  /** Kinds whose mark text may have too, or that stands elsewhere. */
  private static FileKind container(byte[] bytes, int length) {
    if (isText(bytes, length, 0, "BZh")
        && (isText(bytes, length, 4, "1AY&SY") || isText(bytes, length, 4, "\u0017rE8P\u0090"))) {
      return BZIP2;
    }
    if (isText(bytes, length, 257, "ustar")) {
      return TAR;
    }
    if (isText(bytes, length, 0, "PAR1") && hasControls(bytes, length)) {
      return PARQUET;
    }
    if (isText(bytes, length, 0, "ORC") && hasControls(bytes, length)) {
      return ORC;
    }
    boolean framed = isText(bytes, length, 0, "@\0\0\0\1\0\0\0\0\0\0\0") && length > 64;
    return framed || isPlainNorm(bytes, length) ? NORM : OTHER;
  }

  /** Eight bytes of 0, records, labels, numbers, slots, and 24 bytes of 0, as HugeCTR writes. */
  private static boolean isPlainNorm(byte[] bytes, int length) {
    if (length < 64 || !isText(bytes, length, 0, "\0".repeat(8))) {
      return false;
    }
    boolean small = true;
    boolean any = false;
    for (int at = 16; at < 40; at += 8) {
      small &= isText(bytes, length, at + 3, "\0".repeat(5));
      any |= bytes[at] != 0;
    }
    return small && any && isText(bytes, length, 40, "\0".repeat(24));
  }

  private static FileKind encoding(byte[] bytes, int length) {
    if (isText(bytes, length, 0, "\u00ff\u00fe\0\0")
        || isText(bytes, length, 0, "\0\0\u00fe\u00ff")) {
      return UTF_32;
    }
    if (isText(bytes, length, 0, "\u00ff\u00fe") || isText(bytes, length, 0, "\u00fe\u00ff")) {
      return UTF_16;
    }
    int look = Math.min(length, LOOK) & ~1;
    int[] zeros = new int[2];
    for (int i = 0; i < look; i++) {
      zeros[i & 1] += bytes[i] == 0 ? 1 : 0;
    }
    int most = Math.max(zeros[0], zeros[1]);
    if (look >= 8 && most >= look / 2 - look / 16 && zeros[0] + zeros[1] == most) {
      return UTF_16;
    }
    return (zeros[0] + zeros[1]) * 8 > look ? BINARY : OTHER;
  }

  private static FileKind markup(byte[] bytes, int length) {
    String text =
        new String(bytes, 0, Math.min(length, LOOK), StandardCharsets.ISO_8859_1)
            .replaceFirst("^\u00ef\u00bb\u00bf", "")
            .stripLeading();
    if (text.regionMatches(true, 0, "<!doctype html", 0, 14)
        || text.regionMatches(true, 0, "<html", 0, 5)) {
      return HTML;
    }
    if (text.startsWith("<?xml")) {
      return XML;
    }
    return JSON_START.matcher(text).lookingAt() ? JSON : OTHER;
  }

  /** Whether lines end in CR alone: there is one within the bytes, but no LF. */
  private static boolean endsInReturns(byte[] bytes, int length) {
    boolean returns = false;
    for (int i = 0; i < length; i++) {
      if (bytes[i] == '\n') {
        return false;
      }
      returns |= bytes[i] == '\r' && i < length - 1;
    }
    return returns;
  }

  private static boolean hasControls(byte[] bytes, int length) {
    for (int i = 0; i < Math.min(length, LOOK); i++) {
      if (bytes[i] >= 0 && bytes[i] < '\t') {
        return true;
      }
    }
    return false;
  }

  /** Whether {@code text}, a byte a character, stands at {@code at}. */
  private static boolean isText(byte[] bytes, int length, int at, String text) {
    if (text.length() > length - at) {
      return false;
    }
    for (int i = 0; i < text.length(); i++) {
      if ((bytes[at + i] & 0xFF) != text.charAt(i)) {
        return false;
      }
    }
    return true;
  }
}
