package dev.tern.base;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;

/**
 * Bad data or a bad file. The message names the file, the line, row or record (counted from 1) and
 * the byte offset (from 0) where they are known, what was got, what was expected and what to do.
 */
public final class DataException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public DataException(String message) {
    super(message);
  }

  public DataException(String message, Throwable cause) {
    super(message, cause);
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
