/* SPDX-License-Identifier: Apache-2.0 */
/* Where the control socket of a running operatord is: the same rule for the supervisor and for operatorctl. */
#ifndef COMMON_CONTROL_PATH_H
#define COMMON_CONTROL_PATH_H

#define CONTROL_PATH_MAX 108 /* sun_path of unix(7), the NUL included */

/*
 * The explicit path if given (--control); else $RUNTIME_DIRECTORY/control.sock (set by systemd, see systemd.exec(5)); else for root
 * RUNSTATEDIR/operatord/control.sock; else $XDG_RUNTIME_DIR/operatord/control.sock. 0; -ENAMETOOLONG when it does not fit; -ENOENT when none of them applies.
 */
int control_path(char out[CONTROL_PATH_MAX], const char *explicit_path);

#endif
