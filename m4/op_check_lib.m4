# OP_CHECK_LIB(VARIABLE, HEADER, LIBRARY, FUNCTION, PACKAGE)
# For libraries without a pkg-config file: sets VARIABLE_LIBS, or stops with the
# name of the package to install.
AC_DEFUN([OP_CHECK_LIB], [
	AC_CHECK_HEADER([$2], [], [AC_MSG_ERROR([$2 not found: install the development files of $5])])
	op_save_LIBS=$LIBS
	AC_CHECK_LIB([$3], [$4], [$1_LIBS=-l$3],
		[AC_MSG_ERROR([-l$3 not found: install the development files of $5])])
	LIBS=$op_save_LIBS
	AC_SUBST([$1_LIBS])
])
