#include "textflag.h"

// Sixteen times each byte that is looked for, and the bit that makes { of [.
DATA quotes<>+0(SB)/8, $0x2222222222222222
DATA quotes<>+8(SB)/8, $0x2222222222222222
GLOBL quotes<>(SB), RODATA|NOPTR, $16
DATA escapes<>+0(SB)/8, $0x5C5C5C5C5C5C5C5C
DATA escapes<>+8(SB)/8, $0x5C5C5C5C5C5C5C5C
GLOBL escapes<>(SB), RODATA|NOPTR, $16
DATA opens<>+0(SB)/8, $0x7B7B7B7B7B7B7B7B
DATA opens<>+8(SB)/8, $0x7B7B7B7B7B7B7B7B
GLOBL opens<>(SB), RODATA|NOPTR, $16
DATA closes<>+0(SB)/8, $0x7D7D7D7D7D7D7D7D
DATA closes<>+8(SB)/8, $0x7D7D7D7D7D7D7D7D
GLOBL closes<>(SB), RODATA|NOPTR, $16
DATA braces<>+0(SB)/8, $0x2020202020202020
DATA braces<>+8(SB)/8, $0x2020202020202020
GLOBL braces<>(SB), RODATA|NOPTR, $16

// SIXTEEN puts what stands in 16 bytes in front of what was found behind them.
#define SIXTEEN(at) \
	MOVOU at(SI), X0 \
	MOVO X0, X1 \
	MOVO X0, X2 \
	POR X12, X0 \
	MOVO X0, X3 \
	PCMPEQB X8, X1 \
	PCMPEQB X9, X2 \
	PCMPEQB X10, X0 \
	PCMPEQB X11, X3 \
	PMOVMSKB X1, AX \
	PMOVMSKB X2, BX \
	PMOVMSKB X0, CX \
	PMOVMSKB X3, DX \
	SHLQ $16, R8 \
	SHLQ $16, R9 \
	SHLQ $16, R10 \
	SHLQ $16, R11 \
	ORQ AX, R8 \
	ORQ BX, R9 \
	ORQ CX, R10 \
	ORQ DX, R11

// func readMarks(block *[64]byte, m *marks)
TEXT ·readMarks(SB), NOSPLIT, $0-16
	MOVQ block+0(FP), SI
	MOVQ m+8(FP), DI
	MOVOU quotes<>(SB), X8
	MOVOU escapes<>(SB), X9
	MOVOU opens<>(SB), X10
	MOVOU closes<>(SB), X11
	MOVOU braces<>(SB), X12
	XORQ R8, R8
	XORQ R9, R9
	XORQ R10, R10
	XORQ R11, R11
	SIXTEEN(48)
	SIXTEEN(32)
	SIXTEEN(16)
	SIXTEEN(0)
	MOVQ R8, 0(DI)
	MOVQ R9, 8(DI)
	MOVQ R10, 16(DI)
	MOVQ R11, 24(DI)
	RET
