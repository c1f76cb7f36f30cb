package dev.tern.checkpoint.tools;

/** Formats in which the rows of a table leave a checkpoint and come into one. */
public enum TableFormat {
  /**
   * A line a row: id and weights, separated by tabs; floats as Java writes them, which is exact.
   */
  TEXT,

  /**
   * A safetensors file: {@code ids} (I64, ascending), {@code weights} as the table stores them, and
   * {@code state} of the optimizer (F32).
   */
  SAFETENSORS,

  /**
   * A sparse model folder of HugeCTR: {@code key} (int64), {@code emb_vector} (float32, row after
   * row) and {@code slot_id} (uint64, the number of the slot that the table is of), little-endian,
   * of the same rows; read are those of all slots that use the table. A folder without {@code
   * slot_id} is read too, and the one file of records that HugeCTR 2.x and 3.0 wrote, as {@link
   * RecordLayout} describes them.
   */
  HUGECTR
}
