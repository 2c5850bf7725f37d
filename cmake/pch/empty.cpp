// The precompiled headers need one source file each.
