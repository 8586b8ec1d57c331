/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The simulator: runs the workers' engine against the development server's core under a fake clock, from a seed. A seed that fails is printed and
 * replays exactly.
 *
 *   sim --seeds N [--from S] [--jobs N]
 *                                runs N seeds, in as many processes as there are processors or --jobs says; ends with "N passed, N failed"
 *   sim --seed S [--trace]       one seed, with all that happened
 *   sim --flat                   a thousand watches that break: no memory stays
 *   sim --self-check             planted faults must be found, and a seed must repeat itself exactly
 * Without an option: a few seeds, and --flat.
 */
#include "config.h"

#include <getopt.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/log.h"
#include "tests/sim/world.h"

static void
swallow(enum log_level level, const char *line, void *data)
{
	(void)level;
	(void)data;
	sim_say("log: %s", line);
}

/* One run: NULL, or what failed (valid until the next run). */
static const char *
run_seed(const struct world_files *files, uint64_t seed, enum sim_plant plant)
{
	struct world world;

	sim_reset(seed);
	struct sim_options options = {
		.plant = plant, .page = sim_chance(500) ? 1 + (unsigned)sim_below(4) : 0};
	sim_plant_fault(plant);
	world_open(&world, files, &options);
	for (unsigned n = 20 + (unsigned)sim_below(120); n > 0 && !sim_failure(); n--) {
		int64_t pause_ns = sim_chance(100) ? (int64_t)sim_below(90 * NSEC_PER_SEC)
						   : (int64_t)sim_below(3 * NSEC_PER_SEC);
		sim_run(world.loop, pause_ns);
		world_act(&world);
		invariants_step(&world);
	}
	world_calm(&world);
	sim_run(world.loop,
		900 * NSEC_PER_SEC); /* retries wait up to 5 minutes, a silent watch 70 s and more */
	invariants_step(&world);
	if (!sim_failure())
		invariants_converged(&world);
	if (!sim_failure())
		invariants_resume(&world);
	if (!sim_failure())
		invariants_outage(&world);
	world_close(&world);
	return sim_failure();
}

struct tally {
	unsigned long passed, failed;
};

static void
run_every(const struct world_files *files, uint64_t from, uint64_t end, unsigned step,
	struct tally *tally)
{
	for (uint64_t seed = from; seed < end; seed += step) {
		const char *failure = run_seed(files, seed, PLANT_NONE);

		if (failure) {
			printf("seed %llu: %s\n", (unsigned long long)seed, failure);
			fflush(stdout);
			tally->failed++;
		} else {
			tally->passed++;
		}
	}
}

/* One of several processes: its tally is in memory that all share. false: it could not be started. */
static bool
start_job(const struct world_files *files, uint64_t from, uint64_t end, unsigned step,
	struct tally *tally)
{
	fflush(stdout);
	pid_t pid = fork();

	if (pid == 0) {
		run_every(files, from, end, step, tally);
		_exit(EXIT_SUCCESS);
	}
	return pid > 0;
}

/* Seeds know nothing of each other: each job takes every n-th. A job that dies is a failure of its own. */
static int
run_seeds(const struct world_files *files, uint64_t from, unsigned long n, unsigned jobs)
{
	size_t size = jobs * sizeof(struct tally);
	struct tally *tallies = mmap(
			     NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0),
		     sum = {0};
	unsigned started = 0;
	int status;

	if (tallies == MAP_FAILED)
		return EXIT_FAILURE;
	if (jobs == 1)
		run_every(files, from, from + n, 1, tallies);
	for (unsigned i = 0; jobs > 1 && i < jobs; i++) {
		if (start_job(files, from + i, from + n, jobs, &tallies[i]))
			started++;
		else
			sum.failed++;
	}
	for (unsigned i = 0; i < started; i++) {
		if (wait(&status) < 0 || !WIFEXITED(status) ||
			WEXITSTATUS(status) != EXIT_SUCCESS) {
			printf("a job died: wait status %#x\n", (unsigned)status);
			sum.failed++;
		}
	}
	for (unsigned i = 0; i < jobs; i++) {
		sum.passed += tallies[i].passed;
		sum.failed += tallies[i].failed;
	}
	munmap(tallies, size);
	printf("%lu passed, %lu failed\n", sum.passed, sum.failed);
	return sum.failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* A planted fault must be found in some of the first seeds. */
static bool
finds(const struct world_files *files, enum sim_plant plant, const char *name)
{
	for (uint64_t seed = 1; seed <= 40; seed++) {
		const char *failure = run_seed(files, seed, plant);
		if (failure) {
			printf("%s: found by seed %llu: %s\n", name, (unsigned long long)seed,
				failure);
			return true;
		}
	}
	printf("%s: NOT found in 40 seeds\n", name);
	return false;
}

static bool
repeats(const struct world_files *files)
{
	run_seed(files, 7, PLANT_NONE);
	uint64_t first = sim_trace_hash();
	run_seed(files, 8, PLANT_NONE);
	uint64_t other = sim_trace_hash();
	run_seed(files, 7, PLANT_NONE);
	bool good = sim_trace_hash() == first && first != other;
	printf("a seed repeats itself: %s\n", good ? "yes" : "NO");
	return good;
}

static int
self_check(const struct world_files *files)
{
	static const struct {
		enum sim_plant plant;
		const char *name;
	} plants[] = {{PLANT_MISSED_DELETE, "missed deletion"},
		{PLANT_MISSED_CHANGE, "missed change"}, {PLANT_LOST_WRITE, "lost write"},
		{PLANT_NO_BOOKMARK, "dropped bookmark"}, {PLANT_RESET_BACKOFF, "reset backoff"},
		{PLANT_RETRY_STORM, "retry storm"},
		{PLANT_WRONG_STATUS, "right status overwritten"},
		{PLANT_LOST_EVENT, "event lost while running"},
		{PLANT_PRUNE_ON_DOUBT, "prune on doubt"}};
	bool good = repeats(files);
	unsigned passed = good;

	for (size_t i = 0; i < sizeof(plants) / sizeof(plants[0]); i++) {
		if (finds(files, plants[i].plant, plants[i].name))
			passed++;
		else
			good = false;
	}
	printf("%u passed, %u failed\n", passed,
		1 + (unsigned)(sizeof(plants) / sizeof(plants[0])) - passed);
	return good ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* --- memory --- */

#define FLAT_WATCHES 1000
#define FLAT_BYTES   (64 << 10)

static size_t
bytes_in_use(void)
{
	struct mallinfo2 info = mallinfo2();

	return info.uordblks + info.hblkhd;
}

/* Lets watches break and the server forget until there were so many more of them. */
static void
break_watches(struct world *world, unsigned long n)
{
	unsigned long until = sim_traffic.watches + n;

	sim_faults = (struct sim_faults){.cut_watch = 100,
		.end_watch = 100,
		.garbage = 20,
		.compaction = 20,
		.silent_watch = 20};
	while (sim_traffic.watches < until && !sim_failure())
		sim_run(world->loop, 60 * NSEC_PER_SEC);
	sim_faults = (struct sim_faults){0};
	sim_run(world->loop, 900 * NSEC_PER_SEC);
}

/* E221: the engine and all that it stands on keep nothing of a watch that broke. */
static int
flat(const struct world_files *files)
{
	struct sim_options options = {0};
	struct world world;

	sim_reset(1);
	world_open(&world, files, &options);
	for (int i = 0; i < 200 && !sim_failure(); i++) {
		sim_run(world.loop, NSEC_PER_SEC);
		world_act(&world);
	}
	world_calm(&world);
	sim_run(world.loop, 900 * NSEC_PER_SEC);
	break_watches(&world, FLAT_WATCHES);
	size_t before = bytes_in_use();
	break_watches(&world, FLAT_WATCHES);
	size_t after = bytes_in_use();
	const char *failure = sim_failure();
	world_close(&world);
	if (!failure && before == 0)
		puts("memory: NOT measured, this malloc does not say what is in use");
	else
		printf("memory: %zu bytes before %d watches, %zu after%s%s\n", before, FLAT_WATCHES,
			after, failure ? "; " : "", failure ? failure : "");
	return failure || after > before + FLAT_BYTES ? EXIT_FAILURE : EXIT_SUCCESS;
}

enum {
	OPTION_FLAT = 255,
	OPTION_SEEDS = 256,
	OPTION_FROM,
	OPTION_JOBS,
	OPTION_SEED,
	OPTION_TRACE,
	OPTION_SELF_CHECK,
	OPTION_EXAMPLES
};

int
main(int argc, char **argv)
{
	static const struct option options[] = {
		{"seeds", required_argument, NULL, OPTION_SEEDS},
		{"from", required_argument, NULL, OPTION_FROM},
		{"jobs", required_argument, NULL, OPTION_JOBS},
		{"seed", required_argument, NULL, OPTION_SEED},
		{"trace", no_argument, NULL, OPTION_TRACE},
		{"flat", no_argument, NULL, OPTION_FLAT},
		{"self-check", no_argument, NULL, OPTION_SELF_CHECK},
		{"examples", required_argument, NULL, OPTION_EXAMPLES},
		{NULL, 0, NULL, 0},
	};
	const char *examples = getenv("SIM_EXAMPLES") ? getenv("SIM_EXAMPLES") : SIM_EXAMPLES;
	char examples_path[512];
	unsigned long seeds = 5;
	uint64_t from = 1;
	unsigned jobs = 0;
	bool check = false, only_flat = false;
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (option) {
		case OPTION_SEEDS:
			seeds = strtoul(optarg, NULL, 10);
			break;
		case OPTION_FROM:
			from = strtoull(optarg, NULL, 10);
			break;
		case OPTION_SEED:
			from = strtoull(optarg, NULL, 10);
			seeds = jobs = 1;
			break;
		case OPTION_JOBS:
			jobs = (unsigned)strtoul(optarg, NULL, 10);
			break;
		case OPTION_TRACE:
			sim_trace(true);
			break;
		case OPTION_FLAT:
			only_flat = true;
			break;
		case OPTION_SELF_CHECK:
			check = true;
			break;
		case OPTION_EXAMPLES:
			examples = optarg;
			break;
		default:
			return 64;
		}
	}
	if (jobs == 0)
		jobs = (unsigned)sysconf(_SC_NPROCESSORS_ONLN);
	if (jobs > seeds)
		jobs = seeds > 0 ? (unsigned)seeds : 1;
	snprintf(examples_path, sizeof(examples_path), "%s", examples);
	log_open(LOG_LEVEL_DEBUG, LOG_FORMAT_TEXT);
	log_capture(swallow, NULL);
	struct world_files files = {0};
	if (world_files_read(examples_path, &files) < 0)
		return EXIT_FAILURE;
	int code = check       ? self_check(&files)
		   : only_flat ? EXIT_SUCCESS
			       : run_seeds(&files, from, seeds, jobs);
	if (code == EXIT_SUCCESS && (only_flat || argc == 1))
		code = flat(&files);
	world_files_free(&files);
	sim_templates_free();
	return code;
}
