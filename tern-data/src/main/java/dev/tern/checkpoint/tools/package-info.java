/**
 * Tools for tables of a checkpoint: {@link dev.tern.checkpoint.tools.TableExport} and {@link
 * dev.tern.checkpoint.tools.TableImport} move rows to and from other formats, {@link
 * dev.tern.checkpoint.tools.TableDifference} compares two checkpoints, {@link
 * dev.tern.checkpoint.tools.TableSummary} describes a table. They read a table row by row and hold
 * none in memory, except an import of text or HugeCTR rows.
 */
@NullMarked
package dev.tern.checkpoint.tools;

import org.jspecify.annotations.NullMarked;
