#include "textflag.h"

// func Prefetch(p unsafe.Pointer)
TEXT ·Prefetch(SB), NOSPLIT, $0-8
	MOVQ p+0(FP), AX
	PREFETCHT0 (AX)
	RET

// func PrefetchLines(p unsafe.Pointer, n int)
TEXT ·PrefetchLines(SB), NOSPLIT, $0-16
	MOVQ p+0(FP), AX
	MOVQ n+8(FP), CX
next:
	PREFETCHT0 (AX)
	ADDQ $64, AX
	DECQ CX
	JGT  next
	RET

// func prefetchParked(p *parked)
TEXT ·prefetchParked(SB), NOSPLIT, $0-8
	MOVQ p+0(FP), CX
	MOVQ 16(CX), AX
	MOVQ 24(CX), BX
	PREFETCHT0 (AX)
	PREFETCHT0 (BX)
	MOVQ 32(CX), AX
	MOVQ 40(CX), BX
	PREFETCHT0 (AX)
	PREFETCHT0 (BX)
	MOVQ 0(CX), AX
	MOVQ 8(CX), BX
	PREFETCHT0 (AX)
	PREFETCHT0 64(AX)
	PREFETCHT0 128(AX)
	PREFETCHT0 192(AX)
	PREFETCHT0 384(AX)
	PREFETCHT0 -192(BX)
	PREFETCHT0 -128(BX)
	PREFETCHT0 -64(BX)
	PREFETCHT0 (BX)
	PREFETCHT0 64(BX)
	PREFETCHT0 128(BX)
	PREFETCHT0 192(BX)
	PREFETCHT0 256(BX)
	RET

// func routine() uintptr
TEXT ·routine(SB), NOSPLIT, $0-8
	MOVQ R14, ret+0(FP)
	RET
