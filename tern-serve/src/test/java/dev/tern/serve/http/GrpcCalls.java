package dev.tern.serve.http;

import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.stub.ClientCalls;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** Calls by grpc-java, of messages that are bytes. */
final class GrpcCalls implements AutoCloseable {
  static final String INFER = "inference.GRPCInferenceService/ModelInfer";

  private static final MethodDescriptor.Marshaller<byte[]> BYTES =
      new MethodDescriptor.Marshaller<>() {
        @Override
        public InputStream stream(byte[] bytes) {
          return new ByteArrayInputStream(bytes);
        }

        @Override
        public byte[] parse(InputStream stream) {
          try {
            return stream.readAllBytes();
          } catch (IOException e) {
            throw new UncheckedIOException(e);
          }
        }
      };

  final ManagedChannel channel;

  GrpcCalls(NettyChannelBuilder to) {
    channel = to.build();
  }

  static GrpcCalls plain(int port) {
    return new GrpcCalls(NettyChannelBuilder.forAddress("127.0.0.1", port).usePlaintext());
  }

  static MethodDescriptor<byte[], byte[]> method(String name, MethodDescriptor.MethodType type) {
    return MethodDescriptor.newBuilder(BYTES, BYTES).setType(type).setFullMethodName(name).build();
  }

  static MethodDescriptor<byte[], byte[]> unary(String name) {
    return method(name, MethodDescriptor.MethodType.UNARY);
  }

  /** The answer of a call; a status other than OK throws. */
  byte[] call(String method, byte[] message) {
    return call(method, message, CallOptions.DEFAULT.withDeadlineAfter(60, TimeUnit.SECONDS));
  }

  byte[] call(String method, byte[] message, CallOptions options) {
    return ClientCalls.blockingUnaryCall(channel, unary(method), options, message);
  }

  /** The status of a call that is refused. */
  Status status(String method, byte[] message) {
    return status(method, message, CallOptions.DEFAULT.withDeadlineAfter(60, TimeUnit.SECONDS));
  }

  Status status(String method, byte[] message, CallOptions options) {
    try {
      call(method, message, options);
      return Status.OK;
    } catch (StatusRuntimeException e) {
      return e.getStatus();
    }
  }

  /** A call under way, whose parts are sent one by one. */
  static final class Begun {
    final ClientCall<byte[], byte[]> call;
    final BlockingQueue<byte[]> messages = new LinkedBlockingQueue<>();
    final CompletableFuture<Status> ended = new CompletableFuture<>();
    volatile Metadata trailers = new Metadata();

    private Begun(ClientCall<byte[], byte[]> call) {
      this.call = call;
    }

    Status end() throws Exception {
      return ended.get(60, TimeUnit.SECONDS);
    }
  }

  Begun begin(String method, CallOptions options, Metadata head) {
    Begun begun =
        new Begun(
            channel.newCall(method(method, MethodDescriptor.MethodType.SERVER_STREAMING), options));
    begun.call.start(
        new ClientCall.Listener<>() {
          @Override
          public void onMessage(byte[] message) {
            begun.messages.add(message);
            begun.call.request(1);
          }

          @Override
          public void onClose(Status status, Metadata trailers) {
            begun.trailers = trailers;
            begun.ended.complete(status);
          }
        },
        head);
    begun.call.request(1);
    return begun;
  }

  Begun begin(String method) {
    return begin(method, CallOptions.DEFAULT, new Metadata());
  }

  @Override
  public void close() {
    channel.shutdownNow();
  }
}
