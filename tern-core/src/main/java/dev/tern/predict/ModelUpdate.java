package dev.tern.predict;

import dev.tern.checkpoint.Checkpoint;
import dev.tern.checkpoint.CheckpointDelta;
import dev.tern.checkpoint.CheckpointMark;
import dev.tern.embedding.EmbeddingTable;
import dev.tern.embedding.TableChanges;
import dev.tern.model.Network;
import java.util.List;

/** A checkpoint whose differences from the model in memory are read. */
interface ModelUpdate {
  CheckpointMark mark();

  /** Gives a network the weights of its layers. */
  void readDense(Network network);

  /**
   * Reads what tables have otherwise than in memory.
   *
   * @param into for each table, empty changes of it
   * @return whether it did: false if the model must be read as a whole
   */
  boolean readTables(List<EmbeddingTable> tables, List<TableChanges> into);

  /** Throws if the checkpoint was replaced meanwhile. */
  void requireUnchanged();

  /** The changes of a checkpoint of changes. */
  static ModelUpdate of(CheckpointDelta delta) {
    return new ModelUpdate() {
      @Override
      public CheckpointMark mark() {
        return delta.mark();
      }

      @Override
      public void readDense(Network network) {
        delta.readDense(network);
      }

      @Override
      public boolean readTables(List<EmbeddingTable> tables, List<TableChanges> into) {
        return delta.readTables(tables, into);
      }

      @Override
      public void requireUnchanged() {
        delta.requireUnchanged();
      }
    };
  }

  /**
   * What differs in a whole checkpoint.
   *
   * @param most bytes of memory that the changes may take
   */
  static ModelUpdate of(Checkpoint whole, long most) {
    return new ModelUpdate() {
      @Override
      public CheckpointMark mark() {
        return whole.mark();
      }

      @Override
      public void readDense(Network network) {
        whole.readDense(network);
      }

      @Override
      public boolean readTables(List<EmbeddingTable> tables, List<TableChanges> into) {
        return whole.readDifferences(tables, into, most);
      }

      @Override
      public void requireUnchanged() {
        whole.requireUnchanged();
      }
    };
  }
}
