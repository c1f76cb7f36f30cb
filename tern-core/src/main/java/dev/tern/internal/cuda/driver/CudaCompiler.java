package dev.tern.internal.cuda.driver;

/** Makes code for a device from CUDA C. Thread-safe. */
public interface CudaCompiler {
  /**
   * The code of a text.
   *
   * @param text CUDA C without {@code #include}; its kernels are {@code extern "C"}
   * @param architecture of the device ({@link CudaDevice#architecture}), for example 90
   * @return what {@link CudaModules#load} takes
   * @throws CudaCompilerException when the text has a fault
   */
  byte[] compile(String text, int architecture);

  /** Its name and version, for users. */
  String name();

  /** Its name, version and options: whatever could change the code that it makes. */
  String identity();

  /** Where it is, for users. */
  String place();
}
