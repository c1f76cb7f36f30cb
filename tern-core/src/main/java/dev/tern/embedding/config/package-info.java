/**
 * The values that a table and its users exchange: what the table is told ({@link
 * dev.tern.embedding.config.TableConfig} and its parts), what it reports ({@link
 * dev.tern.embedding.config.TableStatistics}), and blocks of rows on their way in or out ({@link
 * dev.tern.embedding.config.RowBlock}, {@link dev.tern.embedding.config.RowSink}, {@link
 * dev.tern.embedding.config.RowSource}).
 *
 * <table>
 * <caption>Parts of a TableConfig</caption>
 * <tr><td>{@link dev.tern.embedding.config.RowRule}</td><td>which optimizer updates rows</td></tr>
 * <tr><td>{@link dev.tern.embedding.config.RowPolicy}</td><td>which ids get rows ({@link
 * dev.tern.embedding.config.Admission}), which rows go ({@link
 * dev.tern.embedding.config.Eviction}), how many there may be</td></tr>
 * <tr><td>{@link dev.tern.embedding.config.UnknownRow}</td><td>what ids without a row read as</td></tr>
 * <tr><td>{@link dev.tern.embedding.config.RowLimits}</td><td>bounds of gradients and weights</td></tr>
 * <tr><td>{@link dev.tern.embedding.config.RowFormat}</td><td>for training, or 8 bits a weight for
 * scoring</td></tr>
 * </table>
 */
package dev.tern.embedding.config;
