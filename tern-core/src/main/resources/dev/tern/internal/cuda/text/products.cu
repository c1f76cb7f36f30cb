// Products of matrices. An element of C takes its terms in ascending order, each by one fused
// multiply-add, from 0 on: the bits of MatMul. Tiles and threads change no order.

#define TERMS 16

// Four numbers of a tile's slice of A or B for each thread and round; zeros beyond its edges. BY_K
// says that terms lie side by side, else rows do; WIDE that 16 bytes can be loaded at once.
template <bool BY_K, bool WIDE, int ROWS>
TERN_FUNCTION void fetch(float4 (&held)[ROWS / 64], const float* x, i64 ld, int rows, int from, int to) {
#pragma unroll
  for (int e = 0; e < ROWS / 64; e++) {
    const int q = threadIdx.x + e * 256;
    const int row = BY_K ? q / 4 : q % (ROWS / 4) * 4;
    const int p = from + (BY_K ? q % 4 * 4 : q / (ROWS / 4));
    // 32 bits do, as no tensor has more elements, and registers are short.
    const float* at = x + (BY_K ? (u32)row * (u32)ld + p : (u32)p * (u32)ld + row);
    if (WIDE && row + (BY_K ? 0 : 3) < rows && p + (BY_K ? 3 : 0) < to) {
      held[e] = *(const float4*)at;
    } else {
      held[e].x = row < rows && p < to ? at[0] : 0.0f;
      held[e].y = row + (BY_K ? 0 : 1) < rows && p + (BY_K ? 1 : 0) < to ? at[1] : 0.0f;
      held[e].z = row + (BY_K ? 0 : 2) < rows && p + (BY_K ? 2 : 0) < to ? at[2] : 0.0f;
      held[e].w = row + (BY_K ? 0 : 3) < rows && p + (BY_K ? 3 : 0) < to ? at[3] : 0.0f;
    }
  }
}

template <bool BY_K, int ROWS>
TERN_FUNCTION void stash(float (*slice)[ROWS + 4], const float4 (&held)[ROWS / 64]) {
#pragma unroll
  for (int e = 0; e < ROWS / 64; e++) {
    const int q = threadIdx.x + e * 256;
    if (BY_K) {
      const int row = q / 4;
      const int p = q % 4 * 4;
      slice[p][row] = held[e].x;
      slice[p + 1][row] = held[e].y;
      slice[p + 2][row] = held[e].z;
      slice[p + 3][row] = held[e].w;
    } else {
      *(float4*)&slice[q / (ROWS / 4)][q % (ROWS / 4) * 4] = held[e];
    }
  }
}

// One term of the thread's elements: blocks of 4 x 4, 64 rows and columns apart.
template <int BM, int BN>
TERN_FUNCTION void term(float (&sums)[BM / 16][BN / 16], const float* a, const float* b) {
  float x[BM / 16];
  float y[BN / 16];
#pragma unroll
  for (int h = 0; h < BM / 64; h++) *(float4*)&x[4 * h] = *(const float4*)&a[64 * h];
#pragma unroll
  for (int h = 0; h < BN / 64; h++) *(float4*)&y[4 * h] = *(const float4*)&b[64 * h];
#pragma unroll
  for (int i = 0; i < BM / 16; i++) {
#pragma unroll
    for (int j = 0; j < BN / 16; j++) sums[i][j] = t_fma(x[i], y[j], sums[i][j]);
  }
}

// A tile of BM x BN by 256 threads. The next slice of TERMS terms is fetched while one is used. The
// last slice ends with the last term: a zero term could turn a -0 into 0.
template <bool A_BY_K, bool B_BY_K, bool WIDE, int BM, int BN>
TERN_FUNCTION void tile(const float* a, i64 lda, const float* b, i64 ldb, float* c, i64 ldc, int m, int n, int from, int to) {
  __shared__ __align__(16) float sa[2][TERMS][BM + 4];
  __shared__ __align__(16) float sb[2][TERMS][BN + 4];
  const int warp = threadIdx.x >> 5;
  const int lane = threadIdx.x & 31;
  const int row = (warp >> 1) * 16 + (lane >> 3) * 4;
  const int column = (warp & 1) * 32 + (lane & 7) * 4;
  float __align__(16) sums[BM / 16][BN / 16];
#pragma unroll
  for (int i = 0; i < BM / 16; i++) {
#pragma unroll
    for (int j = 0; j < BN / 16; j++) sums[i][j] = 0.0f;
  }
  float4 of_a[BM / 64];
  float4 of_b[BN / 64];
  fetch<A_BY_K, WIDE, BM>(of_a, a, lda, m, from, to);
  fetch<B_BY_K, WIDE, BN>(of_b, b, ldb, n, from, to);
  stash<A_BY_K, BM>(sa[0], of_a);
  stash<B_BY_K, BN>(sb[0], of_b);
  __syncthreads();
  int now = 0;
  int p = from;
  for (; p + TERMS <= to; p += TERMS) {
    const bool more = p + TERMS < to;
    if (more) {
      fetch<A_BY_K, WIDE, BM>(of_a, a, lda, m, p + TERMS, to);
      fetch<B_BY_K, WIDE, BN>(of_b, b, ldb, n, p + TERMS, to);
    }
#pragma unroll
    for (int t = 0; t < TERMS; t++) term<BM, BN>(sums, &sa[now][t][row], &sb[now][t][column]);
    if (more) {
      stash<A_BY_K, BM>(sa[now ^ 1], of_a);
      stash<B_BY_K, BN>(sb[now ^ 1], of_b);
      __syncthreads();
      now ^= 1;
    }
  }
  for (int t = 0; p + t < to; t++) term<BM, BN>(sums, &sa[now][t][row], &sb[now][t][column]);
#pragma unroll
  for (int i = 0; i < BM / 16; i++) {
    const int r = row + (i >> 2) * 64 + (i & 3);
    if (r >= m) continue;
#pragma unroll
    for (int h = 0; h < BN / 64; h++) {
      const int s = column + h * 64;
      float* at = c + r * ldc + s;
      if (s + 3 < n && ((u64)at & 15) == 0) {
        *(float4*)at = make_float4(sums[i][4 * h], sums[i][4 * h + 1], sums[i][4 * h + 2], sums[i][4 * h + 3]);
      } else {
#pragma unroll
        for (int j = 0; j < 4; j++) {
          if (s + j < n) at[j] = sums[i][4 * h + j];
        }
      }
    }
  }
}

// A thread an element, for small matrices and for any strides.
extern "C" __global__ void __launch_bounds__(256) product_small(
    const float* a, i64 a_row, i64 a_column, i64 a_step, const float* b, i64 b_row, i64 b_column, i64 b_step,
    float* c, i64 ldc, i64 c_step, int m, int n, int k, u32 count) {
  EACH(e, count) {
    const u32 column = e % n;
    const u32 row = e / n % m;
    const u32 product = e / n / m;
    const float* x = a + product * a_step + row * a_row;
    const float* y = b + product * b_step + column * b_column;
    float sum = 0.0f;
#pragma unroll 8
    for (int p = 0; p < k; p++) sum = t_fma(x[p * a_column], y[p * b_row], sum);
    c[product * c_step + row * ldc + column] = sum;
  }
}

// Rows of terms side by side with one vector, as RowDots: whole blocks of 16 terms go to 16 lanes,
// the terms after them follow in order.
extern "C" __global__ void __launch_bounds__(256) row_dots(
    const float* rows, i64 row_step, i64 step, const float* x, i64 x_step, i64 x_batch, float* y, i64 y_step, i64 y_batch,
    int count, int k, u32 all) {
  const u32 lane = threadIdx.x & 15;
  const int whole = k & ~15;
  for (u32 e = (blockIdx.x * blockDim.x + threadIdx.x) >> 4; e < all; e += gridDim.x * blockDim.x >> 4) {
    const u32 i = e % count;
    const u32 product = e / count;
    const float* row = rows + product * step + i * row_step;
    const float* factors = x + product * x_batch;
    float sum = 0.0f;
#pragma unroll 8
    for (int p = lane; p < whole; p += 16) sum = t_fma(row[p], factors[p * x_step], sum);
    sum = lanes_total(sum);
    for (int p = whole; p < k; p++) sum = t_fma(row[p], factors[p * x_step], sum);
    if (lane == 0) y[product * y_batch + i * y_step] = sum;
  }
}

// Adds partial results in order, from 0 or from the first on.
extern "C" __global__ void __launch_bounds__(256) combine(
    const float* parts, i64 step, int count, float* out, u32 n, int from_zero, int largest) {
  EACH(i, n) {
    float result = from_zero ? 0.0f : parts[i];
#pragma unroll 8
    for (int p = from_zero ? 0 : 1; p < count; p++) {
      const float part = parts[p * step + i];
      result = largest ? t_max(result, part) : result + part;
    }
    out[i] = result;
  }
}

TERN_FUNCTION u32 two_halves(float low, float high) {
  return (u32)to_bf16(low) & 0xffffu | (u32)to_bf16(high) << 16;
}

// Rows as bfloat16, for products on tensor cores: eight numbers a thread, whose places are multiples
// of 16 bytes on both sides.
extern "C" __global__ void __launch_bounds__(256) round_eight_to_bf16(
    const float* in, i64 ld, i64 step, short* out, i64 out_ld, i64 out_step, u32 rows, u32 eights, u32 count) {
  EACH(e, count) {
    const u32 column = e % eights * 8;
    const u32 row = e / eights % rows;
    const u32 matrix = e / eights / rows;
    const float4* from = (const float4*)(in + matrix * step + row * ld + column);
    const float4 a = from[0];
    const float4 b = from[1];
    *(int4*)(out + matrix * out_step + row * out_ld + column) = make_int4(
        (int)two_halves(a.x, a.y), (int)two_halves(a.z, a.w), (int)two_halves(b.x, b.y), (int)two_halves(b.z, b.w));
  }
}

// The same, a number a thread.
extern "C" __global__ void __launch_bounds__(256) round_to_bf16(
    const float* in, i64 ld, i64 step, short* out, i64 out_ld, i64 out_step, u32 rows, u32 columns, u32 count) {
  EACH(e, count) {
    const u32 column = e % columns;
    const u32 row = e / columns % rows;
    const u32 matrix = e / columns / rows;
    out[matrix * out_step + row * out_ld + column] = (short)to_bf16(in[matrix * step + row * ld + column]);
  }
}
