/* SPDX-License-Identifier: Apache-2.0 */
/* Reads this process's own numbers for the metrics process_*. Keeps nothing, logs nothing: a number that can't be read shows as 0. */
#include "config.h"

#include <dirent.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "supervisor/usage.h"

double
usage_cpu_seconds(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
	       (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

/* proc(5): "size resident ..." in pages. */
static void
read_pages(unsigned long long *ret_size, unsigned long long *ret_resident)
{
	FILE *file = fopen("/proc/self/statm", "re");

	*ret_size = *ret_resident = 0;
	if (!file)
		return;
	if (fscanf(file, "%llu %llu", ret_size, ret_resident) != 2)
		*ret_size = *ret_resident = 0;
	fclose(file);
}

double
usage_resident_bytes(void)
{
	unsigned long long size, resident;

	read_pages(&size, &resident);
	return (double)resident * (double)sysconf(_SC_PAGESIZE);
}

double
usage_virtual_bytes(void)
{
	unsigned long long size, resident;

	read_pages(&size, &resident);
	return (double)size * (double)sysconf(_SC_PAGESIZE);
}

double
usage_open_fds(void)
{
	DIR *directory = opendir("/proc/self/fd");
	unsigned n = 0;

	if (!directory)
		return 0;
	while (readdir(directory))
		n++;
	closedir(directory);
	return n > 3 ? n - 3 : 0; /* ".", "..", and the directory itself */
}

double
usage_max_fds(void)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_NOFILE, &limit) == 0 ? (double)limit.rlim_cur : 0;
}
