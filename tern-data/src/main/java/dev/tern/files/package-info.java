/**
 * What all files of data have in common for those who read and write them: columns, {@link
 * dev.tern.files.ReadPolicy}, faults, splits and conversions. Formats have packages of their own:
 * {@code text}, {@code parquet}, {@code records}.
 */
@org.jspecify.annotations.NullMarked
package dev.tern.files;
