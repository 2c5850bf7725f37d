#pragma once
// The tgpu dialect: shared-memory buffers, barriers and warp-level reductions.
#include "compiler/ir/layout_encoding.h"

#include "compiler/gpu/TgpuDialect.h.inc"
#define GET_TYPEDEF_CLASSES
#include "compiler/gpu/TgpuTypes.h.inc"
#define GET_OP_CLASSES
#include "compiler/gpu/TgpuOps.h.inc"
