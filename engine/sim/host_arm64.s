#include "textflag.h"

// func Prefetch(p unsafe.Pointer)
TEXT ·Prefetch(SB), NOSPLIT, $0-8
	MOVD p+0(FP), R0
	PRFM (R0), PLDL1KEEP
	RET

// func PrefetchLines(p unsafe.Pointer, n int)
TEXT ·PrefetchLines(SB), NOSPLIT, $0-16
	MOVD p+0(FP), R0
	MOVD n+8(FP), R1
next:
	PRFM (R0), PLDL1KEEP
	ADD  $64, R0
	SUBS $1, R1, R1
	BGT  next
	RET

// func prefetchParked(p *parked)
TEXT ·prefetchParked(SB), NOSPLIT, $0-8
	MOVD p+0(FP), R3
	MOVD 16(R3), R0
	MOVD 24(R3), R1
	PRFM (R0), PLDL1KEEP
	PRFM (R1), PLDL1KEEP
	MOVD 32(R3), R0
	MOVD 40(R3), R1
	PRFM (R0), PLDL1KEEP
	PRFM (R1), PLDL1KEEP
	MOVD 0(R3), R0
	MOVD 8(R3), R1
	SUB  $192, R1
	PRFM (R0), PLDL1KEEP
	PRFM 64(R0), PLDL1KEEP
	PRFM 128(R0), PLDL1KEEP
	PRFM 192(R0), PLDL1KEEP
	PRFM 384(R0), PLDL1KEEP
	MOVD $11, R2
next:
	PRFM (R1), PLDL1KEEP
	ADD  $64, R1
	SUBS $1, R2, R2
	BGT  next
	RET

// func routine() uintptr
TEXT ·routine(SB), NOSPLIT, $0-8
	MOVD g, ret+0(FP)
	RET

// func pause()
TEXT ·pause(SB), NOSPLIT, $0-0
	YIELD
	RET
