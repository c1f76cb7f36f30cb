// Rows picked, scattered and reduced, whole numbers about sequences, and the other fixed steps.
//
// A step that checks its input has a word for the first thing that is wrong: its place in the upper
// half, its value in the lower. Nothing is read or written outside, whatever the input holds.

#define NOTHING_WRONG 0xffffffffffffffffull

TERN_FUNCTION void wrong(u64* word, u32 place, i64 value) {
  const i64 held = value > 2147483647ll ? 2147483647ll : value < -2147483648ll ? -2147483648ll : value;
  atomicMin(word, (u64)place << 32 | (u32)held);
}

TERN_FUNCTION i64 whole_number(const void* numbers, int wide, i64 i) {
  return wide ? ((const i64*)numbers)[i] : (i64)((const int*)numbers)[i];
}

// A sequence's end within the rows.
TERN_FUNCTION int bounded(int offset, int rows) { return offset < 0 ? 0 : offset > rows ? rows : offset; }

// The number of the sequence that holds a row: the last whose offset is not above it.
TERN_FUNCTION int sequence_of(const int* offsets, int sequences, int row) {
  int low = 0;
  int high = sequences + 1;
  while (low < high) {
    const int middle = (low + high) >> 1;
    if (offsets[middle] <= row) low = middle + 1; else high = middle;
  }
  return low - 1;
}

extern "C" __global__ void __launch_bounds__(256) fill_words(u32* out, u32 n, u32 word) { EACH(i, n) out[i] = word; }

extern "C" __global__ void __launch_bounds__(256) uniform(const i64* seed, int stream, float* out, u32 n) {
  const u64 golden = 0x9E3779B97F4A7C15ull;
  const u64 base = mix((u64)seed[0] + golden * (u64)(stream + 1ll));
  EACH(i, n) out[i] = (float)(mix(base + golden * (i + 1ull)) >> 40) * 5.9604644775390625e-8f;
}

// ---- rows by an index

extern "C" __global__ void __launch_bounds__(256) gather(
    const u32* table, int rows, const void* index, int wide, int gaps, u32* out, u32 count, u32 width, u64* word) {
  const u32 n = count * width;
  EACH(e, n) {
    const u32 i = e / width;
    const i64 row = whole_number(index, wide, i);
    const bool found = row >= 0 && row < rows;
    if (!found && !(gaps && row == -1)) wrong(word, i, row);
    out[e] = found ? table[row * width + e % width] : 0u;
  }
}

// Keys of a sort of positions by row; those of no row get the key behind all rows.
extern "C" __global__ void __launch_bounds__(256) row_keys(
    const void* index, int wide, int gaps, int rows, u32* keys, u32* positions, u32 count, u64* word) {
  EACH(i, count) {
    const i64 row = whole_number(index, wide, i);
    const bool found = row >= 0 && row < rows;
    if (!found && !(gaps && row == -1)) wrong(word, i, row);
    keys[i] = found ? (u32)row : (u32)rows;
    positions[i] = i;
  }
}

// A stable sort by digits of four bits (Satish, Harris, Garland 2009): a block takes SORTED
// neighbouring elements, each thread eight of them in order.
#define SORTED 2048

extern "C" __global__ void __launch_bounds__(256) sort_count(const u32* keys, u32 count, int shift, u32* counts) {
  __shared__ u32 digits[16];
  if (threadIdx.x < 16) digits[threadIdx.x] = 0;
  __syncthreads();
  for (u32 j = threadIdx.x; j < SORTED; j += 256) {
    const u32 i = blockIdx.x * SORTED + j;
    if (i < count) atomicAdd(&digits[keys[i] >> shift & 15], 1u);
  }
  __syncthreads();
  if (threadIdx.x < 16) counts[threadIdx.x * gridDim.x + blockIdx.x] = digits[threadIdx.x];
}

// The sum of x over the threads before this one, in a block of 256.
TERN_FUNCTION u32 before_in_block(u32 x, u32* sums) {
  const u32 lane = threadIdx.x & 31;
  u32 sum = x;
#pragma unroll
  for (int d = 1; d < 32; d <<= 1) {
    const u32 other = __shfl_sync(0xffffffffu, sum, (int)((lane - d) & 31));
    if ((int)lane >= d) sum += other;
  }
  if (lane == 31) sums[threadIdx.x >> 5] = sum;
  __syncthreads();
  u32 before = 0;
  for (u32 w = 0; w < threadIdx.x >> 5; w++) before += sums[w];
  __syncthreads();
  return before + sum - x;
}

// Sums of all numbers before each, by one block.
extern "C" __global__ void __launch_bounds__(256) sort_starts(u32* counts, u32 n) {
  __shared__ u32 sums[8];
  __shared__ u32 total;
  u32 base = 0;
  for (u32 from = 0; from < n; from += 256) {
    const u32 i = from + threadIdx.x;
    const u32 x = i < n ? counts[i] : 0u;
    const u32 before = before_in_block(x, sums);
    if (threadIdx.x == 255) total = before + x;
    __syncthreads();
    if (i < n) counts[i] = base + before;
    base += total;
    __syncthreads();
  }
}

extern "C" __global__ void __launch_bounds__(256) sort_move(
    const u32* keys, const u32* positions, u32 count, int shift, const u32* starts, u32* sorted_keys, u32* sorted_positions) {
  __shared__ u32 ranks[16 * 256];
  __shared__ u32 sums[8];
  __shared__ u32 firsts[16];
  const u32 from = blockIdx.x * SORTED + threadIdx.x * 8;
  for (u32 d = 0; d < 16; d++) ranks[d * 256 + threadIdx.x] = 0;
  __syncthreads();
  for (u32 j = 0; j < 8; j++) {
    if (from + j < count) ranks[(keys[from + j] >> shift & 15) * 256 + threadIdx.x]++;
  }
  __syncthreads();
  u32 own = 0;
  for (u32 j = 0; j < 16; j++) own += ranks[threadIdx.x * 16 + j];
  u32 before = before_in_block(own, sums);
  for (u32 j = 0; j < 16; j++) {
    const u32 x = ranks[threadIdx.x * 16 + j];
    ranks[threadIdx.x * 16 + j] = before;
    before += x;
  }
  __syncthreads();
  if (threadIdx.x < 16) firsts[threadIdx.x] = ranks[threadIdx.x * 256];
  __syncthreads();
  for (u32 j = 0; j < 8; j++) {
    if (from + j < count) {
      const u32 key = keys[from + j];
      const u32 digit = key >> shift & 15;
      const u32 rank = ranks[digit * 256 + threadIdx.x]++;
      const u32 place = starts[digit * gridDim.x + blockIdx.x] + rank - firsts[digit];
      sorted_keys[place] = key;
      sorted_positions[place] = positions[from + j];
    }
  }
}

// Where the positions of each row begin among the sorted ones.
extern "C" __global__ void __launch_bounds__(256) row_starts(const u32* keys, u32 count, u32* starts, u32 rows) {
  EACH(row, rows + 1) {
    u32 low = 0;
    u32 high = count;
    while (low < high) {
      const u32 middle = (low + high) >> 1;
      if (keys[middle] < row) low = middle + 1; else high = middle;
    }
    starts[row] = low;
  }
}

// The rows at sorted positions, added in the order of positions.
extern "C" __global__ void __launch_bounds__(256) scatter_add(
    const u32* positions, const u32* starts, const float* values, float* out, u32 rows, u32 width) {
  const u32 n = rows * width;
  EACH(e, n) {
    const u32 row = e / width;
    const u32 column = e % width;
    const u32 to = starts[row + 1];
    float sum = 0.0f;
#pragma unroll 4
    for (u32 i = starts[row]; i < to; i++) sum = sum + values[(u64)positions[i] * width + column];
    out[e] = sum;
  }
}

// ---- sequences

extern "C" __global__ void __launch_bounds__(256) check_offsets(const int* offsets, u32 count, int rows, u64* word) {
  EACH(i, count) {
    const int offset = offsets[i];
    const int before = i == 0 ? 0 : offsets[i - 1];
    if ((i == 0 && offset != 0) || offset < before || offset > rows) wrong(word, i, offset);
  }
}

// Sums are taken 64 rows at a time, as SegmentReduction.
extern "C" __global__ void __launch_bounds__(256) segments(
    const float* values, const int* offsets, float* out, u32 count, u32 width, int rows, int largest) {
  const u32 n = count * width;
  EACH(e, n) {
    const u32 s = e / width;
    const u32 column = e % width;
    const int end = bounded(offsets[s + 1], rows);
    float result = largest ? -INFINITE : 0.0f;
    for (int row = bounded(offsets[s], rows); row < end;) {
      if (largest) {
        result = t_max(result, values[(i64)row * width + column]);
        row++;
        continue;
      }
      const int to = min(end, row + 64);
      float part = 0.0f;
#pragma unroll 8
      for (; row < to; row++) part = part + values[(i64)row * width + column];
      result = result + part;
    }
    out[e] = result;
  }
}

extern "C" __global__ void __launch_bounds__(256) index_lengths(const int* offsets, int* out, u32 sequences) {
  EACH(s, sequences) out[s] = offsets[s + 1] - offsets[s];
}

// Running sums of lengths by one block; of marks, the places of those that are set.
extern "C" __global__ void __launch_bounds__(256) index_offsets(const int* lengths, int* out, u32 count, u64* word) {
  __shared__ i64 sums[256];
  __shared__ i64 total;
  i64 base = 0;
  if (threadIdx.x == 0) out[0] = 0;
  for (u32 from = 0; from < count; from += 256) {
    const u32 i = from + threadIdx.x;
    const i64 length = i < count ? lengths[i] : 0;
    sums[threadIdx.x] = length;
    __syncthreads();
    for (u32 d = 1; d < 256; d <<= 1) {
      const i64 other = threadIdx.x >= d ? sums[threadIdx.x - d] : 0;
      __syncthreads();
      sums[threadIdx.x] += other;
      __syncthreads();
    }
    const i64 end = base + sums[threadIdx.x];
    if (i < count) {
      if (length < 0 || end > 2147483647ll) wrong(word, i, length);
      out[i + 1] = (int)end;
    }
    if (threadIdx.x == 255) total = end;
    __syncthreads();
    base = total;
    __syncthreads();
  }
}

enum { SEQUENCES, POSITIONS, MIRROR, RANGES };

extern "C" __global__ void __launch_bounds__(256) index_rows(
    int rule, const int* starts, const int* offsets, int sequences, int* out, u32 rows) {
  EACH(row, rows) {
    const int last = offsets[sequences];
    int value = -1;
    if (sequences > 0 && (int)row < last) {
      const int s = sequence_of(offsets, sequences, (int)row);
      if (s >= 0 && s < sequences) {
        const int begin = offsets[s];
        value = rule == SEQUENCES ? s
            : rule == POSITIONS ? (int)row - begin
            : rule == RANGES ? (int)((u32)starts[s] + row - (u32)begin)
            : begin + offsets[s + 1] - 1 - (int)row;
      }
    }
    out[row] = value;
  }
}

extern "C" __global__ void __launch_bounds__(256) index_ends(
    int tails, int all, const int* offsets, u32 sequences, int* out, u32 width, u64* word) {
  const u32 n = sequences * width;
  EACH(e, n) {
    const u32 s = e / width;
    const int i = (int)(e % width);
    const int begin = offsets[s];
    const int length = offsets[s + 1] - begin;
    out[e] = i < length ? tails ? begin + length - 1 - i : begin + i : -1;
  }
  if (all) {
    EACH(s, sequences) {
      const int length = offsets[s + 1] - offsets[s];
      if (length > (int)width) wrong(word, s, length);
    }
  }
}

extern "C" __global__ void __launch_bounds__(256) index_windows(
    const int* offsets, int sequences, int* out, u32 rows, u32 width) {
  const u32 n = rows * width;
  EACH(e, n) {
    const int row = (int)(e / width);
    const int i = (int)(e % width);
    int value = (int)rows;
    if (sequences > 0 && row < offsets[sequences]) {
      const int s = sequence_of(offsets, sequences, row);
      if (s >= 0 && s < sequences && i < offsets[s + 1] - row) value = row + i;
    }
    out[e] = value;
  }
}

extern "C" __global__ void __launch_bounds__(256) index_starts(
    const int* offsets, const int* firsts, const int* lengths, int* out, u32 sequences, u64* word) {
  EACH(s, sequences) {
    const int begin = offsets[s];
    const int rows = offsets[s + 1] - begin;
    const int first = firsts[s];
    const int length = lengths[s];
    if (first < 0 || length < 0 || first > rows - length) wrong(word, s, length);
    out[s] = begin + first;
  }
}

enum { MARKS_FLOAT, MARKS_INT, MARKS_LONG };

TERN_FUNCTION bool is_set(const void* marks, int type, i64 i) {
  return type == MARKS_FLOAT ? ((const float*)marks)[i] != 0 : whole_number(marks, type == MARKS_LONG, i) != 0;
}

extern "C" __global__ void __launch_bounds__(256) index_kept_lengths(
    const void* marks, int type, int rows, const int* offsets, int* out, u32 sequences) {
  EACH(s, sequences) {
    int kept = 0;
    const int end = bounded(offsets[s + 1], rows);
    for (int row = bounded(offsets[s], rows); row < end; row++) kept += is_set(marks, type, row) ? 1 : 0;
    out[s] = kept;
  }
}

extern "C" __global__ void __launch_bounds__(256) index_kept(
    const void* marks, int type, u32 rows, const int* offsets, int sequences, int* out) {
  __shared__ u32 sums[8];
  __shared__ u32 total;
  const u32 last = (u32)bounded(offsets[sequences], (int)rows);
  u32 base = 0;
  for (u32 from = 0; from < last; from += 256) {
    const u32 row = from + threadIdx.x;
    const u32 mark = row < last && is_set(marks, type, row) ? 1u : 0u;
    const u32 before = before_in_block(mark, sums);
    if (mark) out[base + before] = (int)row;
    if (threadIdx.x == 255) total = before + mark;
    __syncthreads();
    base += total;
    __syncthreads();
  }
  for (u32 i = base + threadIdx.x; i < rows; i += 256) out[i] = -1;
}

extern "C" __global__ void __launch_bounds__(256) index_not_among(
    const void* ids, int ids_wide, const void* others, int others_wide, u32 count, int number, int* out) {
  EACH(i, count) {
    const i64 id = whole_number(ids, ids_wide, i);
    int mark = 1;
    for (int k = 0; k < number && mark; k++) mark = whole_number(others, others_wide, k) == id ? 0 : 1;
    out[i] = mark;
  }
}

extern "C" __global__ void __launch_bounds__(256) index_cells(
    const void* columns, int wide, const int* offsets, int sequences, int* out, u32 rows, int width, u64* word) {
  EACH(row, rows) {
    int value = -1;
    if (sequences > 0 && (int)row < offsets[sequences]) {
      const i64 column = whole_number(columns, wide, row);
      if (column < 0 || column >= width) wrong(word, row, column);
      value = sequence_of(offsets, sequences, (int)row) * width + (int)column;
    }
    out[row] = value;
  }
}

// The order of Float.compare: -0 below 0, NaN above all.
TERN_FUNCTION int order_of(float x) {
  const int bits = x != x ? 0x7fc00000 : __float_as_int(x);
  return bits ^ (bits >> 31 & 0x7fffffff);
}

extern "C" __global__ void __launch_bounds__(256) index_largest(
    const float* values, const int* offsets, int* out, u32 sequences, u32 width, int rows, int most) {
  const u32 n = sequences * width;
  EACH(e, n) {
    const u32 s = e / width;
    const u32 column = e % width;
    int* first = out + (i64)s * most * width + column;
    int found = 0;
    const int end = bounded(offsets[s + 1], rows);
    for (int row = bounded(offsets[s], rows); row < end; row++) {
      const int element = row * (int)width + (int)column;
      int at = found;
      while (at > 0) {
        const int before = first[(i64)(at - 1) * width];
        if (order_of(values[before]) >= order_of(values[element])) break;
        if (at < most) first[(i64)at * width] = before;
        at--;
      }
      if (at < most) first[(i64)at * width] = element;
      found = min(most, found + 1);
    }
    for (int i = found; i < most; i++) first[(i64)i * width] = -1;
  }
}

extern "C" __global__ void __launch_bounds__(256) index_shift(const int* numbers, int* out, u32 count, int by, u64* word) {
  EACH(i, count) {
    const int number = numbers[i];
    if (number < 0 || number > 2147483647 - by) wrong(word, i, number);
    out[i] = (int)((u32)number + (u32)by);
  }
}

extern "C" __global__ void __launch_bounds__(256) index_scale(
    const int* offsets, int* out, u32 count, int size, int width, u64* word) {
  EACH(i, count) {
    const i64 scaled = (i64)offsets[i] * size;
    if (scaled % width != 0 || scaled / width > 2147483647ll) wrong(word, i, scaled);
    out[i] = (int)(scaled / width);
  }
}

// ---- pairs of vectors

// A block takes a sample; its n vectors lie in shared memory, a number apart so that banks differ,
// or are read where they are if there is no room.
extern "C" __global__ void __launch_bounds__(128) interact(const float* x, float* out, u32 batch, int n, int d, int staged) {
  extern __shared__ float vectors[];
  const int pairs = n * (n - 1) / 2;
  const int step = staged ? d + 1 : d;
  for (u32 b = blockIdx.x; b < batch; b += gridDim.x) {
    const float* sample = x + (i64)b * n * d;
    if (staged) {
      for (int e = threadIdx.x; e < n * d; e += blockDim.x) vectors[e / d * step + e % d] = sample[e];
    }
    __syncthreads();
    const float* v = staged ? vectors : sample;
    for (int q = threadIdx.x; q < pairs; q += blockDim.x) {
      int i = (int)((1.0f + __fsqrt_rn(1.0f + 8.0f * q)) * 0.5f);
      while (i * (i - 1) / 2 > q) i--;
      while ((i + 1) * i / 2 <= q) i++;
      const int j = q - i * (i - 1) / 2;
      float sum = 0.0f;
      for (int p = 0; p < d; p++) sum = t_fma(v[i * step + p], v[j * step + p], sum);
      out[(i64)b * pairs + q] = sum;
    }
    __syncthreads();
  }
}

extern "C" __global__ void __launch_bounds__(128) interact_gradient(
    const float* x, const float* gradient, float* out, u32 batch, int n, int d, int staged) {
  extern __shared__ float vectors[];
  const int pairs = n * (n - 1) / 2;
  for (u32 b = blockIdx.x; b < batch; b += gridDim.x) {
    const float* sample = x + (i64)b * n * d;
    const float* triangle = gradient + (i64)b * pairs;
    if (staged) {
      for (int e = threadIdx.x; e < n * d; e += blockDim.x) vectors[e] = sample[e];
      for (int e = threadIdx.x; e < pairs; e += blockDim.x) vectors[n * d + e] = triangle[e];
    }
    __syncthreads();
    const float* v = staged ? vectors : sample;
    const float* t = staged ? vectors + n * d : triangle;
    for (int e = threadIdx.x; e < n * d; e += blockDim.x) {
      const int i = e / d;
      const int j = e % d;
      float sum = 0.0f;
      for (int p = 0; p < i; p++) sum = t_fma(t[i * (i - 1) / 2 + p], v[p * d + j], sum);
      for (int p = i + 1; p < n; p++) sum = t_fma(t[p * (p - 1) / 2 + i], v[p * d + j], sum);
      out[(i64)b * n * d + e] = sum;
    }
    __syncthreads();
  }
}

// Sums over every fourth vector, as ScalarPairs.
TERN_FUNCTION float fourths(const float* x, int n, int d, bool squares) {
  float sums[4];
#pragma unroll
  for (int f = 0; f < 4; f++) {
    sums[f] = 0.0f;
    for (int j = f; j < n; j += 4) {
      const float value = x[(i64)j * d];
      sums[f] = squares ? t_fma(value, value, sums[f]) : sums[f] + value;
    }
  }
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

extern "C" __global__ void __launch_bounds__(256) pair_sums(const float* x, float* out, u32 batch, int n, int d) {
  const u32 lane = threadIdx.x & 15;
  for (u32 b = (blockIdx.x * blockDim.x + threadIdx.x) >> 4; b < batch; b += gridDim.x * blockDim.x >> 4) {
    const float* row = x + (i64)b * n * d;
    float sum = 0.0f;
    for (int p = lane; p < d; p += 16) {
      const float of_all = fourths(row + p, n, d, false);
      sum = sum + t_fma(of_all, of_all, -fourths(row + p, n, d, true));
    }
    sum = lanes_total(sum);
    if (lane == 0) out[b] = 0.5f * sum;
  }
}

extern "C" __global__ void __launch_bounds__(256) pair_sums_gradient(
    const float* x, const float* gradient, float* out, u32 batch, u32 n, u32 d) {
  const u32 count = batch * d;
  EACH(e, count) {
    const u32 b = e / d;
    const u32 p = e % d;
    const float* row = x + (i64)b * n * d + p;
    const float of_all = fourths(row, (int)n, (int)d, false);
    const float factor = gradient[b];
    for (u32 j = 0; j < n; j++) out[((i64)b * n + j) * d + p] = factor * (of_all - row[(i64)j * d]);
  }
}

// ---- recurrent units

// A block takes a run of rows, one after the other, and a thread some numbers of each state, in the
// order of RecurrentStates. Rows of no run get zeros.
extern "C" __global__ void __launch_bounds__(128) gru(
    const float* gates, const float* factors, const float* recurrent, const int* offsets, float* out,
    int sequences, int rows, int width) {
  for (int s = blockIdx.x; s < sequences; s += gridDim.x) {
    const int first = bounded(offsets[s], rows);
    const int end = bounded(offsets[s + 1], rows);
    for (int row = first; row < end; row++) {
      const float* before = out + (i64)(row - 1) * width;
      const float* x = gates + (i64)row * 3 * width;
      for (int i = threadIdx.x; i < width; i += blockDim.x) {
        float update = 0.0f;
        float reset = 0.0f;
        float candidate = 0.0f;
        for (int k = 0; k < width && row > first; k++) {
          const float* line = recurrent + (i64)k * 3 * width + i;
          const float state = before[k];
          update = t_fma(state, line[0], update);
          reset = t_fma(state, line[width], reset);
          candidate = t_fma(state, line[2 * width], candidate);
        }
        const float u = factors[row] * t_sigmoid(x[i] + update);
        const float r = t_sigmoid(x[width + i] + reset);
        const float c = t_tanh(x[2 * width + i] + r * candidate);
        const float kept = (1.0f - u) * (row > first ? before[i] : 0.0f);
        out[(i64)row * width + i] = kept + u * c;
      }
      __syncthreads();
    }
  }
  const u32 used = (u32)bounded(offsets[sequences], rows) * (u32)width;
  const u32 rest = (u32)rows * (u32)width - used;
  EACH(e, rest) out[used + e] = 0.0f;
}

extern "C" __global__ void __launch_bounds__(128) gru_gradient(
    const float* gradients, const float* kept, const float* slopes, const float* recurrent,
    const int* offsets, float* out, int sequences, int rows, int width) {
  for (int s = blockIdx.x; s < sequences; s += gridDim.x) {
    const int first = bounded(offsets[s], rows);
    const int end = bounded(offsets[s + 1], rows);
    for (int row = end - 1; row >= first; row--) {
      const i64 at = (i64)row * width;
      const float* next = out + at + width;
      const float* w = slopes + 3 * (at + width);
      for (int i = threadIdx.x; i < width; i += blockDim.x) {
        float result = gradients[at + i];
        if (row + 1 < end) {
          float sum = 0.0f;
          const float* line = recurrent + i;
          for (int part = 0; part < 3; part++) {
            for (int k = 0; k < width; k++) {
              sum = t_fma(w[part * width + k] * next[k], *line, sum);
              line += width;
            }
          }
          const float later = kept[at + width + i] * next[i];
          result = (result + later) + sum;
        }
        out[at + i] = result;
      }
      __syncthreads();
    }
  }
  const u32 used = (u32)bounded(offsets[sequences], rows) * (u32)width;
  const u32 rest = (u32)rows * (u32)width - used;
  EACH(e, rest) out[used + e] = 0.0f;
}
