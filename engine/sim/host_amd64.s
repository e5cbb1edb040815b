#include "textflag.h"

// func Prefetch(p unsafe.Pointer)
TEXT ·Prefetch(SB), NOSPLIT, $0-8
	MOVQ p+0(FP), AX
	PREFETCHT0 (AX)
	RET

// func Prefetch2(p unsafe.Pointer)
TEXT ·Prefetch2(SB), NOSPLIT, $0-8
	MOVQ p+0(FP), AX
	PREFETCHT0 (AX)
	PREFETCHT0 64(AX)
	RET

// func Prefetch3(p unsafe.Pointer)
TEXT ·Prefetch3(SB), NOSPLIT, $0-8
	MOVQ p+0(FP), AX
	PREFETCHT0 (AX)
	PREFETCHT0 64(AX)
	PREFETCHT0 128(AX)
	RET

// func prefetchParked(routine, stack uintptr)
TEXT ·prefetchParked(SB), NOSPLIT, $0-16
	MOVQ routine+0(FP), AX
	MOVQ stack+8(FP), BX
	PREFETCHT0 (AX)
	PREFETCHT0 64(AX)
	PREFETCHT0 128(AX)
	PREFETCHT0 384(AX)
	PREFETCHT0 -192(BX)
	PREFETCHT0 -128(BX)
	PREFETCHT0 -64(BX)
	PREFETCHT0 (BX)
	PREFETCHT0 64(BX)
	PREFETCHT0 128(BX)
	PREFETCHT0 192(BX)
	PREFETCHT0 256(BX)
	PREFETCHT0 320(BX)
	RET

// func routine() uintptr
TEXT ·routine(SB), NOSPLIT, $0-8
	MOVQ R14, ret+0(FP)
	RET
