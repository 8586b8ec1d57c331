/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The places that a caged process may read: the system's, the same for everybody and without secrets, and those of its own files.
 *
 * Landlock knows inodes, not names. So a file that others replace is readable afterwards only when its directory is. That is how it is done for
 * credentials. For files of /etc it can't be, for there are secrets beside them: so a process whose names are not found, or whose credentials are
 * refused, can ask whether one of them is another file by now. What is remembered for that lives as long as the process.
 */
#include "config.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/memory.h"
#include "common/sandbox/layers.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define PLACES_MAX   96

/* clang-format off */
/* Libraries that are loaded late (name services, character sets, TLS providers) and what they read. None of it is executed. */
static const char *const of_the_system[] = {
	"/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/etc/ld.so.cache",
	"/etc/localtime", "/usr/share/zoneinfo", "/usr/share/locale",
	"/dev/null", "/dev/urandom", "/sys/devices/system/cpu/online",
};
#ifdef WITH_SANITIZERS
/* Their reports show the source's lines. */
static const char *const of_sanitizers[] = {"/proc", "/proc/self/exe"};
#endif
/* /run/systemd/resolve is what /etc/resolv.conf may be a link into, and replaced there. */
static const char *const of_the_network[] = {
	"/etc/ssl/certs", "/etc/ssl/cert.pem", "/etc/ssl/openssl.cnf",
	"/usr/share/ca-certificates", "/usr/local/share/ca-certificates",
	"/etc/pki/tls/certs", "/etc/pki/tls/cert.pem", "/etc/pki/tls/openssl.cnf", "/etc/pki/ca-trust/extracted",
	"/etc/crypto-policies", "/usr/share/crypto-policies",
	"/etc/services", "/etc/protocols", "/etc/gai.conf", "/etc/host.conf", "/etc/hostname",
	"/run/systemd/resolve",
};
static const char *const of_the_resolver[] = {"/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf"};

/* Directories that are nobody's own, and /home/NAME: a file there is opened alone. */
static const char *const shared[] = {
	"/", "/etc", "/home", "/root", "/run", "/var", "/var/lib", "/var/run", "/tmp", "/var/tmp",
	"/usr", "/opt", "/srv", "/mnt", "/dev", "/proc",
};
/* clang-format on */

/* What is open, and the names whose files others replace. */
static struct {
	struct identity {
		dev_t device;
		ino_t inode;
	} open[PLACES_MAX];
	size_t n_open;
	char *names[SANDBOX_FILES_MAX + COUNT(of_the_resolver)];
	size_t n_names;
} known;

static bool
identify(const char *path, struct identity *ret)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return false;
	*ret = (struct identity){st.st_dev, st.st_ino};
	return true;
}

static bool
is_open(const char *path)
{
	struct identity identity;

	if (!identify(path, &identity))
		return false;
	for (size_t i = 0; i < known.n_open; i++)
		if (known.open[i].device == identity.device &&
			known.open[i].inode == identity.inode)
			return true;
	return false;
}

/* Cuts the last component off; false when there is none. */
static bool
cut_to_directory(char *path)
{
	char *slash = strrchr(path, '/');

	if (slash == NULL || slash[1] == '\0')
		return false;
	slash[slash == path ? 1 : 0] = '\0';
	return true;
}

/* As Landlock judges it: the file, or a directory above it, is open. */
static bool
is_below_open(const char *real)
{
	char *path = xstrdup(real);
	bool found = is_open(path);

	while (!found && cut_to_directory(path))
		found = is_open(path);
	free(path);
	return found;
}

static bool
is_shared(const char *directory)
{
	for (size_t i = 0; i < COUNT(shared); i++)
		if (strcmp(directory, shared[i]) == 0)
			return true;
	return strncmp(directory, "/home/", 6) == 0 && strchr(directory + 6, '/') == NULL;
}

/* --- opening --- */

struct opener {
	void (*each)(void *data, const char *path);
	void *data;
};

static void
open_place(const struct opener *opener, const char *path)
{
	if (known.n_open < PLACES_MAX && identify(path, &known.open[known.n_open]))
		known.n_open++;
	opener->each(opener->data, path);
}

static void
open_list(const struct opener *opener, const char *const *paths, size_t n)
{
	for (size_t i = 0; i < n; i++)
		open_place(opener, paths[i]);
}

/* The directory that a file is in by this name, or the file alone where that is shared. */
static void
open_around(const struct opener *opener, const char *path)
{
	char *directory = xstrdup(path), *real = NULL;

	if (cut_to_directory(directory))
		real = realpath(directory, NULL);
	if (real != NULL && !is_shared(real))
		open_place(opener, real);
	else
		open_place(opener, path);
	free(real);
	free(directory);
}

/* By the name given, which covers the links that Kubernetes swaps within a volume; and where it is by now, when links lead out. */
static void
open_file(const struct opener *opener, const char *path)
{
	char *real = realpath(path, NULL);

	open_around(opener, path);
	if (real != NULL && !is_below_open(real))
		open_around(opener, real);
	free(real);
}

static void
remember(const char *path)
{
	if (known.n_names < COUNT(known.names))
		known.names[known.n_names++] = xstrdup(path);
}

void
places_each(const struct sandbox *sandbox, void (*each)(void *data, const char *path), void *data)
{
	const struct opener opener = {each, data};

	open_list(&opener, of_the_system, COUNT(of_the_system));
#ifdef WITH_SANITIZERS
	open_list(&opener, of_sanitizers, COUNT(of_sanitizers));
#endif
	if (sandbox->all_files)
		open_place(&opener, "/");
	for (size_t i = 0; i < SANDBOX_FILES_MAX; i++) {
		if (sandbox->files[i] == NULL)
			continue;
		open_file(&opener, sandbox->files[i]);
		remember(sandbox->files[i]);
	}
	if (!sandbox->network)
		return;
	open_list(&opener, of_the_network, COUNT(of_the_network));
	open_list(&opener, of_the_resolver, COUNT(of_the_resolver));
	for (size_t i = 0; i < COUNT(of_the_resolver); i++)
		remember(of_the_resolver[i]);
}

const char *
places_outdated(void)
{
	const char *found = NULL;

	for (size_t i = 0; i < known.n_names && found == NULL; i++) {
		char *real = realpath(known.names[i], NULL);

		if (real != NULL && !is_below_open(real))
			found = known.names[i];
		free(real);
	}
	return found;
}
