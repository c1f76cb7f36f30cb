/**
 * What all files of data have in common: columns, {@link dev.tern.files.ReadPolicy}, faults,
 * walking over several files, threads, output that appears whole or not at all. Formats have
 * packages of their own: {@code text}, {@code parquet}, {@code records}.
 */
@org.jspecify.annotations.NullMarked
package dev.tern.files;
