/**
 * From a 64-bit id to a row number. {@link dev.tern.internal.table.index.IdIndex} is the way in.
 *
 * <pre>
 * up to 65,536 ids   one {@link dev.tern.internal.table.index.FlatIndex}: whole ids, 5 a cache line
 * more               a directory, by bits of the hash
 *                      -> {@link dev.tern.internal.table.index.IdSegment}: the rest of the hash, 7 a line
 *                           -> its overflow, a FlatIndex, for ids that find no room in two buckets
 * </pre>
 *
 * <p>A full segment splits in two ({@link dev.tern.internal.table.index.SegmentSplit}). Every id is
 * legal, and erasing leaves no mark. Any number of threads may find while nothing changes.
 */
package dev.tern.internal.table.index;
