package dev.tern.checkpoint.tools;

/** Formats in which rows of a table are exported and imported. */
public enum TableFormat {
  /**
   * One line a row: id and weights, separated by tabs. Floats are written exactly, as in Java. An
   * import also reads files whose first line names the columns, as {@link TableExport#writeValues}
   * writes them: {@code id}, {@code value} or both, and the weights by name, in any order.
   */
  TEXT,

  /**
   * A safetensors file: {@code ids} (I64, ascending), {@code weights} as the table stores them, and
   * {@code state} of the optimizer (F32).
   */
  SAFETENSORS,

  /**
   * A sparse model folder of HugeCTR with the files {@code key} (int64), {@code emb_vector}
   * (float32, row after row) and {@code slot_id} (uint64, the number of the slot that owns the
   * table), little-endian. An import reads the rows of all slots that use the table. It also reads
   * a folder without {@code slot_id}, and the single file of HugeCTR 2.x and 3.0; see {@link
   * RecordLayout}.
   */
  HUGECTR
}
