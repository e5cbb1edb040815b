#include "textflag.h"

// func Prefetch(p unsafe.Pointer)
TEXT ·Prefetch(SB), NOSPLIT, $0-8
	MOVD p+0(FP), R0
	PRFM (R0), PLDL1KEEP
	RET

// func Prefetch2(p unsafe.Pointer)
TEXT ·Prefetch2(SB), NOSPLIT, $0-8
	MOVD p+0(FP), R0
	PRFM (R0), PLDL1KEEP
	PRFM 64(R0), PLDL1KEEP
	RET

// func Prefetch3(p unsafe.Pointer)
TEXT ·Prefetch3(SB), NOSPLIT, $0-8
	MOVD p+0(FP), R0
	PRFM (R0), PLDL1KEEP
	PRFM 64(R0), PLDL1KEEP
	PRFM 128(R0), PLDL1KEEP
	RET

// func prefetchParked(routine, stack uintptr)
TEXT ·prefetchParked(SB), NOSPLIT, $0-16
	MOVD routine+0(FP), R0
	MOVD stack+8(FP), R1
	SUB  $192, R1
	PRFM (R0), PLDL1KEEP
	PRFM 64(R0), PLDL1KEEP
	PRFM 128(R0), PLDL1KEEP
	PRFM 384(R0), PLDL1KEEP
	PRFM (R1), PLDL1KEEP
	PRFM 64(R1), PLDL1KEEP
	PRFM 128(R1), PLDL1KEEP
	PRFM 192(R1), PLDL1KEEP
	PRFM 256(R1), PLDL1KEEP
	PRFM 320(R1), PLDL1KEEP
	PRFM 384(R1), PLDL1KEEP
	PRFM 448(R1), PLDL1KEEP
	PRFM 512(R1), PLDL1KEEP
	RET

// func routine() uintptr
TEXT ·routine(SB), NOSPLIT, $0-8
	MOVD g, ret+0(FP)
	RET
