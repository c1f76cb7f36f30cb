// Elementwise functions, op for op those of Pointwise and ScalarMath, whose constants stand above.
// Only IEEE operations rounded to nearest, so a device gives the bits of a CPU, except those of NaN.

typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long i64;

#define TERN_FUNCTION __device__ __forceinline__

#define INFINITE __int_as_float(0x7f800000)
#define NOT_A_NUMBER __int_as_float(0x7fc00000)

TERN_FUNCTION float t_fma(float a, float b, float c) { return __fmaf_rn(a, b, c); }

TERN_FUNCTION float t_max(float a, float b) {
#if defined(__CUDA_ARCH__)
  float larger;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(larger) : "f"(a), "f"(b));
  return larger;
#else
  if (a != a) return a;
  if (a == 0 && b == 0) return __int_as_float(__float_as_int(a) & __float_as_int(b));
  return a >= b ? a : b;
#endif
}

TERN_FUNCTION float t_min(float a, float b) {
#if defined(__CUDA_ARCH__)
  float smaller;
  asm("min.NaN.f32 %0, %1, %2;" : "=f"(smaller) : "f"(a), "f"(b));
  return smaller;
#else
  if (a != a) return a;
  if (a == 0 && b == 0) return __int_as_float(__float_as_int(a) | __float_as_int(b));
  return a <= b ? a : b;
#endif
}

TERN_FUNCTION float t_abs(float x) { return __int_as_float(__float_as_int(x) & 0x7fffffff); }

TERN_FUNCTION float power(int exponent) {
  return __int_as_float((int)((u32)exponent << EXPONENT_SHIFT));
}

TERN_FUNCTION float with_sign_of(float x, float result) {
  return __int_as_float(__float_as_int(result) | (__float_as_int(x) & SIGN_BIT));
}

TERN_FUNCTION float remainder_of(float y, float n) {
  return t_fma(n, -LN2_REST, t_fma(n, -LN2_HIGH, y));
}

TERN_FUNCTION float expm1_of_remainder(float r) {
  float square = r * r;
  float low = t_fma(EXP_1, r, EXP_0);
  float middle = t_fma(EXP_3, r, EXP_2);
  float high = t_fma(EXP_5, r, EXP_4);
  float q = t_fma(t_fma(high, square, middle), square, low);
  return t_fma(q, square, r);
}

TERN_FUNCTION float t_exp(float x) {
  float y = x > EXP_HIGH ? EXP_HIGH : x;
  y = y < EXP_LOW ? EXP_LOW : y;
  float t = t_fma(y, LOG2_E, ROUND_FACTORS);
  float e = expm1_of_remainder(remainder_of(y, t - ROUND_FACTORS));
  int exponents = __float_as_int(t);
  int half = (int)((u32)exponents >> 1);
  float scale = power(half);
  return t_fma(e, scale, scale) * power((int)((u32)exponents - (u32)half));
}

TERN_FUNCTION float t_expm1(float x) {
  float y = x > EXP_HIGH ? EXP_HIGH : x;
  y = y < EXPM1_LOW ? EXPM1_LOW : y;
  float t = t_fma(y, LOG2_E, ROUND_HALF);
  float e = expm1_of_remainder(remainder_of(y, t - ROUND_HALF));
  float scale = power(__float_as_int(t));
  float half = t_fma(e, scale, scale - 0.5f);
  return with_sign_of(x, half + half);
}

TERN_FUNCTION float log_of_parts(float f, float k) {
  float h = LOG_8;
  h = t_fma(h, f, LOG_7);
  h = t_fma(h, f, LOG_6);
  h = t_fma(h, f, LOG_5);
  h = t_fma(h, f, LOG_4);
  h = t_fma(h, f, LOG_3);
  h = t_fma(h, f, LOG_2);
  h = t_fma(h, f, LOG_1);
  h = t_fma(h, f, LOG_0);
  return t_fma(k, LN2, t_fma(h, f * f, f));
}

TERN_FUNCTION float t_log(float x) {
  bool subnormal = x < __int_as_float(0x00800000);
  u32 bits = (u32)__float_as_int(subnormal ? x * NORMALIZE : x);
  u32 above = bits - (u32)SQRT_HALF_BITS;
  float f = __int_as_float((int)(bits - (above & (u32)EXPONENT_MASK))) - 1.0f;
  float k = (float)((int)above >> EXPONENT_SHIFT);
  float result = log_of_parts(f, subnormal ? k - (float)EXPONENT_SHIFT : k);
  result = x < INFINITE ? result : x;
  result = x == 0 ? -INFINITE : result;
  return x < 0 ? NOT_A_NUMBER : result;
}

TERN_FUNCTION float t_log1p(float x) {
  u32 above = (u32)__float_as_int(x + 1.0f) - (u32)SQRT_HALF_BITS;
  float scale = __int_as_float((int)((u32)BITS_OF_4 - (above & (u32)EXPONENT_MASK)));
  float f = t_fma(x * 0.25f, scale, t_fma(scale, 0.25f, -1.0f));
  float result = log_of_parts(f, (float)((int)above >> EXPONENT_SHIFT));
  result = x < INFINITE ? result : x;
  result = t_abs(x) < LOG1P_SMALL ? x : result;
  result = x == -1 ? -INFINITE : result;
  return x < -1 ? NOT_A_NUMBER : result;
}

TERN_FUNCTION float tanh_rest(float a) {
  float t = t_fma(a, -2 * LOG2_E, ROUND_TWICE);
  float r = t_fma(t - ROUND_TWICE, LN2, a + a);
  float twice = power(__float_as_int(t));
  return __fdiv_rn(twice, t_fma(twice, 0.5f, 1.0f) + expm1_of_remainder(r));
}

TERN_FUNCTION float t_tanh(float x) {
  float a = t_abs(x);
  a = a > TANH_HIGH ? TANH_HIGH : a;
  float square = a * a;
  float p = TANH_4;
  p = t_fma(p, square, TANH_3);
  p = t_fma(p, square, TANH_2);
  p = t_fma(p, square, TANH_1);
  p = t_fma(p, square, TANH_0);
  p = t_fma(p * square, a, a);
  return with_sign_of(x, a < TANH_MIDDLE ? p : 1.0f - tanh_rest(a));
}

TERN_FUNCTION float t_sigmoid(float x) {
  float y = x > SIGMOID_HIGH ? SIGMOID_HIGH : x;
  y = y < EXP_LOW ? EXP_LOW : y;
  float t = t_fma(y, LOG2_E, ROUND_RAISED);
  float n = t - ROUND_RAISED;
  float r = t_fma(n, LN2_REST, t_fma(n, LN2_HIGH, -y));
  float raised = power(__float_as_int(t));
  float sum = t_fma(raised, LOWER, 1.0f) + expm1_of_remainder(r);
  return __fdiv_rn(raised, sum) * LOWER;
}

TERN_FUNCTION float exp_of_minus_abs(float x) {
  float y = -t_abs(x);
  y = y < EXP_LOW ? EXP_LOW : y;
  float t = t_fma(y, LOG2_E, ROUND_RAISED);
  float e = expm1_of_remainder(remainder_of(y, t - ROUND_RAISED));
  float raised = power(__float_as_int(t));
  return t_fma(e, raised, raised) * LOWER;
}

TERN_FUNCTION float t_softplus(float x) {
  float u = exp_of_minus_abs(x);
  float q = UNIT_8;
  q = t_fma(q, u, UNIT_7);
  q = t_fma(q, u, UNIT_6);
  q = t_fma(q, u, UNIT_5);
  q = t_fma(q, u, UNIT_4);
  q = t_fma(q, u, UNIT_3);
  q = t_fma(q, u, UNIT_2);
  q = t_fma(q, u, UNIT_1);
  q = t_fma(q, u, UNIT_0);
  return t_fma(q, u * u, u) + (x > 0 ? x : 0.0f);
}

TERN_FUNCTION float erfc_of(float a) {
  float y = ERFC_6;
  y = t_fma(y, a, ERFC_5);
  y = t_fma(y, a, ERFC_4);
  y = t_fma(y, a, ERFC_3);
  y = t_fma(y, a, ERFC_2);
  y = t_fma(y, a, ERFC_1);
  y = t_fma(y, a, ERFC_0);
  float t = t_fma(y, LOG2_E, ROUND_POWER);
  float e = expm1_of_remainder(t_fma(t - ROUND_POWER, -LN2, y)) + 1.0f;
  return e * power(__float_as_int(t));
}

TERN_FUNCTION float t_erf(float x) {
  float a = t_abs(x);
  a = a > ERF_HIGH ? ERF_HIGH : a;
  float square = a * a;
  float p = ERF_5;
  p = t_fma(p, square, ERF_4);
  p = t_fma(p, square, ERF_3);
  p = t_fma(p, square, ERF_2);
  p = t_fma(p, square, ERF_1);
  p = t_fma(p, square, ERF_0);
  p = t_fma(p, a, a);
  return with_sign_of(x, a < ERF_MIDDLE ? p : 1.0f - erfc_of(a));
}

TERN_FUNCTION float sine_of_halves(float x, int halves) {
  float y = t_abs(x) < EVEN ? x : x * 0.0f;
  float near = t_fma(t_fma(y, 0.0625f, ROUND) - ROUND, -16.0f, y);
  float t = t_fma(near, 2.0f, ROUND);
  float r = t_fma(t - ROUND, -0.5f, near);
  float square = r * r;
  float s = SINPI_3;
  s = t_fma(s, square, SINPI_2);
  s = t_fma(s, square, SINPI_1);
  s = t_fma(s, square, SINPI_0);
  s = t_fma(s, square, PI) * r;
  float c = COSPI_4;
  c = t_fma(c, square, COSPI_3);
  c = t_fma(c, square, COSPI_2);
  c = t_fma(c, square, COSPI_1);
  c = t_fma(c, square, COSPI_0);
  c = t_fma(c, square, 1.0f);
  u32 quarter = (u32)__float_as_int(t) + (u32)halves;
  u32 bits = (u32)__float_as_int((quarter & 1u) != 0 ? c : s);
  return __int_as_float((int)(bits ^ (quarter & 2u) << 30));
}

TERN_FUNCTION float t_sinpi(float x) { return sine_of_halves(x, 0); }
TERN_FUNCTION float t_cospi(float x) { return sine_of_halves(x, 1); }

TERN_FUNCTION float t_atan(float x) {
  float a = t_abs(x);
  bool high = a > ATAN_HIGH;
  bool middle = a > ATAN_MIDDLE;
  float above = high ? -1.0f : middle ? a - 1.0f : a;
  float below = high ? a : middle ? a + 1.0f : 1.0f;
  float q = __fdiv_rn(above, below);
  float square = q * q;
  float p = ATAN_3;
  p = t_fma(p, square, ATAN_2);
  p = t_fma(p, square, ATAN_1);
  p = t_fma(p, square, ATAN_0);
  float rest = high ? HALF_REST : middle ? QUARTER_REST : 0.0f;
  float angle = high ? HALF : middle ? QUARTER : 0.0f;
  return with_sign_of(x, t_fma(p * square, q, rest) + q + angle);
}

TERN_FUNCTION float t_copy(float x) { return x; }
TERN_FUNCTION float t_detach(float x) { return x; }
TERN_FUNCTION float t_neg(float x) { return -x; }
TERN_FUNCTION float t_relu(float x) { return x < 0 ? 0.0f : x; }
TERN_FUNCTION float t_sqrt(float x) { return __fsqrt_rn(x); }
TERN_FUNCTION float t_rsqrt(float x) { return __fdiv_rn(1.0f, __fsqrt_rn(x)); }
TERN_FUNCTION float t_reciprocal(float x) { return __fdiv_rn(1.0f, x); }
TERN_FUNCTION float t_square(float x) { return x * x; }
TERN_FUNCTION float t_sign(float x) { return x > 0 ? 1.0f : x < 0 ? -1.0f : 0.0f; }
TERN_FUNCTION float t_not(float x) { return x == 0 ? 1.0f : 0.0f; }
TERN_FUNCTION float t_add(float a, float b) { return a + b; }
TERN_FUNCTION float t_sub(float a, float b) { return a - b; }
TERN_FUNCTION float t_mul(float a, float b) { return a * b; }
TERN_FUNCTION float t_div(float a, float b) { return __fdiv_rn(a, b); }
TERN_FUNCTION float t_lt(float a, float b) { return a < b ? 1.0f : 0.0f; }
TERN_FUNCTION float t_le(float a, float b) { return a <= b ? 1.0f : 0.0f; }
TERN_FUNCTION float t_eq(float a, float b) { return a == b ? 1.0f : 0.0f; }
TERN_FUNCTION float t_select(float condition, float a, float b) { return condition != 0 ? a : b; }

// The 16 lanes of ReductionLanes are 16 threads side by side: half a warp.

TERN_FUNCTION u32 lanes() { return 0xffffu << (threadIdx.x & 16); }

TERN_FUNCTION float lanes_total(float x) {
  x = x + __shfl_xor_sync(lanes(), x, 8);
  x = x + __shfl_xor_sync(lanes(), x, 4);
  x = x + __shfl_xor_sync(lanes(), x, 2);
  return x + __shfl_xor_sync(lanes(), x, 1);
}

TERN_FUNCTION float lanes_largest(float x) {
  x = t_max(x, __shfl_xor_sync(lanes(), x, 8));
  x = t_max(x, __shfl_xor_sync(lanes(), x, 4));
  x = t_max(x, __shfl_xor_sync(lanes(), x, 2));
  return t_max(x, __shfl_xor_sync(lanes(), x, 1));
}

// Uniform numbers, as Pointwise.uniform.
TERN_FUNCTION u64 mix(u64 z) {
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  return z ^ (z >> 31);
}

// Each thread of a grid takes every so manyth element.
#define EACH(i, count) \
  for (u32 i = blockIdx.x * blockDim.x + threadIdx.x; i < (count); i += gridDim.x * blockDim.x)
