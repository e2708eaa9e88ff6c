// What libunwind's configure finds on Linux with glibc, x86-64 or aarch64; with --disable-cxx-exceptions, --disable-debug-frame,
// --disable-block-signals, --disable-weak-backtrace, --disable-minidebuginfo, --disable-zlibdebuginfo and --disable-per-thread-cache.
#pragma once
#define CONSERVATIVE_CHECKS 1
#define HAVE_BYTESWAP_H 1
#define HAVE_DL_ITERATE_PHDR 1
#define HAVE_ELF_H 1
#define HAVE_ENDIAN_H 1
#define HAVE_LINK_H 1
#define HAVE_MINCORE 1
#define HAVE_PIPE2 1
#define HAVE_SIGNAL_H 1
#define HAVE_STRUCT_DL_PHDR_INFO_DLPI_SUBS 1
#define HAVE_SYS_SYSCALL_H 1
#define HAVE_SYS_TYPES_H 1
#define HAVE__BUILTIN_UNREACHABLE 1
#define HAVE__BUILTIN___CLEAR_CACHE 1
#define SIZEOF_OFF_T 8
#define PACKAGE_STRING "libunwind 1.6.2"
#define PACKAGE_BUGREPORT ""
