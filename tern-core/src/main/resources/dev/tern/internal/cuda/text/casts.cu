// Conversions between element types, as ElementCasts and Halves: numbers pass through double.

TERN_FUNCTION float from_f16(int half) {
  const int size = (half & 0x7fff) << 13;
  int bits;
  if (size < 1 << 23) {
    bits = __float_as_int(__int_as_float(size + (113 << 23)) - 6.103515625e-05f);
  } else {
    bits = size + (size < 31 << 23 ? 112 << 23 : (int)(224u << 23));
  }
  return __int_as_float(bits | (int)((u32)(half & 0x8000) << 16));
}

TERN_FUNCTION float from_bf16(int half) { return __int_as_float((int)((u32)half << 16)); }

TERN_FUNCTION int to_bf16(float x) {
  const u32 bits = (u32)__float_as_int(x);
  return (int)(x != x ? bits >> 16 | 0x40u : (bits + 0x7fffu + (bits >> 16 & 1)) >> 16);
}

TERN_FUNCTION int to_f16(float x) {
  u32 bits = (u32)__float_as_int(x);
  const u32 sign = bits >> 16 & 0x8000u;
  bits &= 0x7fffffffu;
  if (bits > 0x7f800000u) return (int)(sign | 0x7e00u);
  if (bits >= 0x47800000u) return (int)(sign | 0x7c00u);
  if (bits < 0x38800000u) {
    // The last bit of a number near 0.5 is 2^-24, the unit of subnormal halves.
    const float shifted = __int_as_float((int)bits) + 0.5f;
    return (int)(sign | ((u32)__float_as_int(shifted) - 0x3f000000u));
  }
  const u32 rounded = bits + 0xfffu + (bits >> 13 & 1);
  return (int)(sign | ((rounded - 0x38000000u) >> 13));
}

TERN_FUNCTION double load_f32(const void* p, i64 i) { return (double)((const float*)p)[i]; }
TERN_FUNCTION double load_bool(const void* p, i64 i) { return (double)((const float*)p)[i]; }
TERN_FUNCTION double load_f16(const void* p, i64 i) { return (double)from_f16(((const short*)p)[i]); }
TERN_FUNCTION double load_bf16(const void* p, i64 i) { return (double)from_bf16(((const short*)p)[i]); }
TERN_FUNCTION double load_i32(const void* p, i64 i) { return (double)((const int*)p)[i]; }
TERN_FUNCTION double load_i64(const void* p, i64 i) { return (double)((const i64*)p)[i]; }

TERN_FUNCTION void store_f32(void* p, i64 i, double x) { ((float*)p)[i] = (float)x; }
TERN_FUNCTION void store_bool(void* p, i64 i, double x) { ((float*)p)[i] = x != 0 ? 1.0f : 0.0f; }
TERN_FUNCTION void store_f16(void* p, i64 i, double x) { ((short*)p)[i] = (short)to_f16((float)x); }
TERN_FUNCTION void store_bf16(void* p, i64 i, double x) { ((short*)p)[i] = (short)to_bf16((float)x); }
TERN_FUNCTION void store_i32(void* p, i64 i, double x) {
  ((int*)p)[i] = x != x ? 0 : x >= 2147483647.0 ? 2147483647 : x <= -2147483648.0 ? (int)0x80000000u : (int)x;
}
TERN_FUNCTION void store_i64(void* p, i64 i, double x) {
  ((i64*)p)[i] = x != x ? 0
      : x >= 9223372036854775807.0 ? 0x7fffffffffffffffll
      : x <= -9223372036854775808.0 ? (i64)0x8000000000000000ull
      : (i64)x;
}
