/** CSV, LIBSVM and LIBFFM files to batches and back. */
@org.jspecify.annotations.NullMarked
package dev.tern.files.text;
