/**
 * Encodings of raw columns. {@link dev.tern.data.encode.IdEncoding} and {@link
 * dev.tern.data.encode.NumberEncoding} say what becomes of a column; {@link
 * dev.tern.data.encode.FeatureEncoder} is fitted on training data by them and turns raw batches
 * into the features of a model. {@link dev.tern.data.encode.TextHash} is the id of a text.
 */
@NullMarked
package dev.tern.data.encode;

import org.jspecify.annotations.NullMarked;
