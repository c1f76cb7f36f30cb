package dev.tern.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tern.cli.config.Config;
import dev.tern.cli.files.DataSource;
import dev.tern.data.Batch;
import dev.tern.data.DataReader;
import dev.tern.predict.Predictor;
import dev.tern.tensor.Device;
import dev.tern.train.Trainer;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A run of an earlier build: rows with missing, rare and unseen values, its configuration, its
 * checkpoints after 1 and 2 epochs, and its scores.
 */
final class EarlierRunTest {
  @TempDir Path folder;

  @BeforeEach
  void unpack() throws IOException {
    try (InputStream in =
            Objects.requireNonNull(EarlierRunTest.class.getResourceAsStream("earlier-run.zip"));
        ZipInputStream zip = new ZipInputStream(in)) {
      for (ZipEntry entry = zip.getNextEntry(); entry != null; entry = zip.getNextEntry()) {
        Path target = folder.resolve(entry.getName());
        if (entry.isDirectory()) {
          Files.createDirectories(target);
        } else {
          Files.createDirectories(target.getParent());
          Files.copy(zip, target);
        }
      }
    }
  }

  private Config config() {
    Path file = folder.resolve("config.yaml");
    return Config.loadResumed(
        file,
        List.of(
            "data.train=" + folder.resolve("train.csv"), "data.eval=" + folder.resolve("test.csv")),
        _ -> Optional.of(file));
  }

  @Test
  void itsCheckpointScoresAsItDid() throws IOException {
    List<String> scores = new ArrayList<>(List.of("prediction"));
    try (Predictor predictor = Predictor.open(folder.resolve("step-16"));
        DataReader rows =
            DataSource.of(config().data())
                .forModel(predictor.encoder())
                .withoutLabels()
                .open(List.of(folder.resolve("test.csv")))) {
      for (Optional<Batch> next = rows.next(); next.isPresent(); next = rows.next()) {
        try (Batch batch = next.get()) {
          for (float score : predictor.score(batch)) {
            scores.add(Float.toString(score));
          }
        }
      }
    }
    assertThat(scores).isEqualTo(Files.readAllLines(folder.resolve("scores.csv")));
  }

  @Test
  void itGoesOnToTheBytesThatItWouldHaveWritten() throws IOException {
    Config config = config();
    Path target = folder.resolve("again");
    try (Device device = Device.cpu(2, 1L << 26);
        Trainer trainer =
            Trainer.resume(
                device,
                folder.resolve("step-8"),
                config.model(),
                TrainRun.options(config, folder.resolve("checkpoints")))) {
      trainer.fit(DataSource.of(config.data()).train());
      trainer.save(target);
    }
    for (String file :
        List.of("encoders.json", "dense.safetensors", "optimizer.safetensors", "tables")) {
      try (Stream<Path> files = Files.walk(folder.resolve("step-16").resolve(file))) {
        for (Path old : files.filter(Files::isRegularFile).toList()) {
          Path name = folder.resolve("step-16").relativize(old);
          assertThat(target.resolve(name)).as("%s", name).hasSameBinaryContentAs(old);
        }
      }
    }
  }
}
