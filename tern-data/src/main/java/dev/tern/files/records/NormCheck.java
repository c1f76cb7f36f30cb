package dev.tern.files.records;

/** How a HugeCTR Norm file guards its records. */
public enum NormCheck {
  /** Records one after the other. */
  NONE,
  /** Each record, and the header, behind its length and before a sum of its bytes modulo 256. */
  SUM
}
