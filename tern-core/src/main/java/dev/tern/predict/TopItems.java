package dev.tern.predict;

/**
 * The best items for each of {@code B} rows, by falling score; of equal scores the item that was
 * added first comes first.
 *
 * @param most items of a row, {@code k}: as many as were asked for, or all there are
 * @param items their numbers, {@code [B, k]} row by row, as {@link Retriever#add} has given them
 * @param scores their logits, as {@link Predictor#logits} has them for a row with the user and the
 *     item, but for rounding
 */
public record TopItems(int most, int[] items, float[] scores) {}
