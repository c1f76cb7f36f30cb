package dev.tern.base;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;

/**
 * Bad data or a bad file. The message names the file, the line, row or record (counted from 1) and
 * the byte offset (from 0) where they are known, what was got, what was expected and what to do. It
 * is as {@link Shown#message} shows it: one line, short, without control or invisible characters.
 */
public final class DataException extends RuntimeException {
  /** Rows of a fault that leaves out nobody knows how many. */
  public static final long UNKNOWN_ROWS = -1;

  private static final long serialVersionUID = 1L;

  private final long rows;

  public DataException(String message) {
    super(Shown.message(message));
    this.rows = 1;
  }

  public DataException(String message, Throwable cause) {
    super(Shown.message(message), cause);
    this.rows = 1;
  }

  private DataException(DataException fault, long rows) {
    super(fault.getMessage(), fault);
    this.rows = rows;
  }

  /** The same fault, which leaves out {@code rows} rows of the data, or {@link #UNKNOWN_ROWS}. */
  public DataException losing(long rows) {
    if (rows < 0 && rows != UNKNOWN_ROWS) {
      throw new IllegalArgumentException("fault: got " + rows + " rows, expected 0 or more");
    }
    return rows == this.rows ? this : new DataException(this, rows);
  }

  /**
   * Rows that are lost where reading goes on after this fault: 1 where nothing else is said, else
   * what {@link #losing} said.
   */
  public long rows() {
    return rows;
  }

  /** What went wrong with a file, in words. Example: {@code No space left on device}. */
  public static String reason(IOException e) {
    return switch (e) {
      case NoSuchFileException _ -> "no such file or folder";
      case AccessDeniedException _ -> "no permission";
      case FileAlreadyExistsException other -> other.getFile() + " in its way";
      case FileSystemException other when other.getReason() != null -> other.getReason();
      case IOException other when other.getMessage() != null -> other.getMessage();
      default -> e.getClass().getSimpleName();
    };
  }
}
