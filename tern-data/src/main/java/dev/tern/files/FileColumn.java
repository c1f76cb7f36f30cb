package dev.tern.files;

/**
 * A column that a file says it has.
 *
 * @param content its type where the file tells it, else its value in the first row, else empty
 */
public record FileColumn(String name, String content) {
  @Override
  public String toString() {
    return content.isEmpty() ? name : name + " (" + content + ")";
  }
}
