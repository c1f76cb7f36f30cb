/**
 * The files of checkpoints: {@link dev.tern.internal.checkpoint.AtomicFolder} makes folders that
 * appear whole, {@link dev.tern.internal.checkpoint.SafeTensors} is the file format, {@link
 * dev.tern.internal.checkpoint.TableFile} writes a table, and {@link
 * dev.tern.internal.checkpoint.SavedTable} reads one from a full file and its deltas. For {@code
 * dev.tern.checkpoint} and its tools only.
 */
@NullMarked
package dev.tern.internal.checkpoint;

import org.jspecify.annotations.NullMarked;
