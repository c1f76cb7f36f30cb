package dev.tern.base;

/** How a device with tensor cores multiplies matrices. */
public enum ProductMath {
  /** In binary32, terms in ascending order: the bits of the processor. */
  EXACT,

  /**
   * Factors rounded to 10 bits of fraction, sums in binary32: a relative error of about 3e-4 of the
   * whole product. Equal runs on one device and library give equal bits, others need not.
   */
  TF32,

  /** Factors rounded to bfloat16, 7 bits of fraction: a relative error of about 3e-3. */
  BF16
}
