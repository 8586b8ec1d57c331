# OP_CFLAG(FLAG, VARIABLE): adds FLAG to VARIABLE if the compiler takes it.
AC_DEFUN([OP_CFLAG], [
	AS_VAR_PUSHDEF([op_cv], [op_cv_cflag_$1])
	AC_CACHE_CHECK([whether $CC accepts $1], [op_cv], [
		op_save_CFLAGS=$CFLAGS
		# -Werror: clang only warns about flags that it does not know.
		CFLAGS="-Werror $CFLAGS $1"
		AC_LINK_IFELSE([AC_LANG_PROGRAM([], [])], [AS_VAR_SET([op_cv], [yes])], [AS_VAR_SET([op_cv], [no])])
		CFLAGS=$op_save_CFLAGS])
	AS_VAR_IF([op_cv], [yes], [$2="$$2 $1"])
	AS_VAR_POPDEF([op_cv])
	AC_SUBST([$2])
])

# OP_LDFLAG(FLAG, VARIABLE): the same for the linker.
AC_DEFUN([OP_LDFLAG], [
	AS_VAR_PUSHDEF([op_cv], [op_cv_ldflag_$1])
	AC_CACHE_CHECK([whether the linker accepts $1], [op_cv], [
		op_save_LDFLAGS=$LDFLAGS
		LDFLAGS="$LDFLAGS $1"
		AC_LINK_IFELSE([AC_LANG_PROGRAM([], [])], [AS_VAR_SET([op_cv], [yes])], [AS_VAR_SET([op_cv], [no])])
		LDFLAGS=$op_save_LDFLAGS])
	AS_VAR_IF([op_cv], [yes], [$2="$$2 $1"])
	AS_VAR_POPDEF([op_cv])
	AC_SUBST([$2])
])

AC_DEFUN([OP_WARNINGS], [
	# -Wno-format-truncation: snprintf into fixed sizes is how texts are bounded here, on purpose.
	m4_foreach_w([op_flag], [-Wall -Wextra -Wshadow -Wconversion -Wsign-conversion
		-Wstrict-prototypes -Wmissing-prototypes -Wold-style-definition -Wpointer-arith
		-Wcast-align -Wwrite-strings -Wformat=2 -Wundef -Wvla
		-Wlogical-op -Wduplicated-cond -Wduplicated-branches -Wjump-misses-init
		-Wno-format-truncation -fno-common],
		[OP_CFLAG(m4_defn([op_flag]), [WARN_CFLAGS])])
])

AC_DEFUN([OP_HARDENING], [
	AC_REQUIRE([AC_PROG_SED])
	m4_foreach_w([op_flag], [-fstack-protector-strong -fstack-clash-protection
		-fcf-protection=full -fPIE], [OP_CFLAG(m4_defn([op_flag]), [HARD_CFLAGS])])
	# FORTIFY needs optimisation, and some compilers define it already.
	AS_CASE([" $CFLAGS "], [*" -O"[[123s]]*], [HARD_CFLAGS="$HARD_CFLAGS -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2"])
	m4_foreach_w([op_flag], [-Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack -pie],
		[OP_LDFLAG(m4_defn([op_flag]), [HARD_LDFLAGS])])
])
