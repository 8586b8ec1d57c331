/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cage of a process that parses what others send: what it may ask of the kernel, which files it may read.
 *
 * Entered once, by the thread that is the only one, after everything else is set up; what must fork or exec is forked before. It can't
 * be left. Three layers, each of which holds without the others:
 *   capabilities   all but CAP_DAC_READ_SEARCH are dropped, from the bounding set too (capabilities(7))
 *   Landlock       files are read beneath the places named here and nowhere else, none is written or executed; TCP is connected to the ports named
 *                  here and to that of DNS, none is bound (landlock(7); by system call, for no library has it)
 *   seccomp        a list of calls that are refused or end the process: syscalls.c (libseccomp)
 * A layer that the kernel does not have is left out: sandbox_missing() names it.
 *
 * In builds with sanitizers /proc and the program are readable too, for their reports, and a process may be traced by one that it starts itself,
 * for the search for leaks.
 */
#ifndef COMMON_SANDBOX_SANDBOX_H
#define COMMON_SANDBOX_SANDBOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "common/error.h"

#define SANDBOX_FILES_MAX 16
#define SANDBOX_PORTS_MAX 8

struct sandbox {
	/*
	 * Files that are read again later on, while others replace them, by rename or by a link on the way: the directory of each is readable with all that is in
	 * it, and the one where it really is. Only the file itself where the directory belongs to everybody ("/", "/etc", a home ...).
	 * NULL entries are skipped.
	 */
	const char *files[SANDBOX_FILES_MAX];
	bool all_files; /* any file may be read */
	/* The network: sockets of TCP, UDP and the kernel's routing tables, what resolves names, and the system's certificate authorities. */
	bool network;
	uint16_t ports
		[SANDBOX_PORTS_MAX]; /* TCP ports to connect to, beside 53; 0 entries are skipped */
};

/* Sets no_new_privs and enters every layer that the kernel has. 0, or -errno with the cause of the first failure; the layers after it are entered all the same. */
int sandbox_enter(const struct sandbox *sandbox, struct error *err);

/* What this kernel (or a sandbox around us) does not have, as words for people: "Landlock", "seccomp and Landlock"; NULL: nothing is missing. */
const char *sandbox_missing(void);

/*
 * A file of those above, or one of the resolver's, that was replaced since by one that this process may not read: its path. NULL: none, or
 * no Landlock. Looks with stat(2), which Landlock does not restrict. The way out is a new process.
 */
const char *sandbox_outdated(void);

#endif
