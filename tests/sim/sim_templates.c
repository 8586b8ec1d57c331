/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compiled templates that outlive an engine: compiling takes 15 ms of libjq, and each seed starts engines anew with the same few configurations. Stands before
 * template_compile() and template_free() by the linker's --wrap. A program carries nothing from one render to the next, so a kept one is as good as a new one.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/json.h"
#include "common/memory.h"
#include "common/template/template.h"
#include "tests/sim/sim.h"

struct kept {
	struct kept *next;
	char *key; /* all of the source, as text */
	struct template_program *program;
};

static struct kept *kept;

struct template_program *__real_template_compile(
	const struct template_source *source, struct error *err);
struct template_program *__wrap_template_compile(
	const struct template_source *source, struct error *err);
void __real_template_free(struct template_program *program);
void __wrap_template_free(struct template_program *program);

static char *
key_of(const struct template_source *source)
{
	struct buf text = BUF_INIT;

	for (size_t i = 0; i < source->n_groups; i++) {
		const struct template_group *group = &source->groups[i];

		buf_addf(&text, "%s %d%d%d%d%d ", group->path, group->boolean,
			group->allow_children, group->allow_error, group->allow_uuid,
			group->literal);
		if (group->value)
			json_print(&text, group->value);
		buf_addc(&text, '\n');
	}
	for (size_t i = 0; i < source->n_children; i++)
		buf_addf(&text, "%s ", source->children_ids[i]);
	if (source->vars)
		json_print(&text, source->vars);
	return buf_detach(&text, NULL);
}

struct template_program *
__wrap_template_compile(const struct template_source *source, struct error *err)
{
	char *key = key_of(source);
	struct kept *one = kept;

	while (one && strcmp(one->key, key) != 0)
		one = one->next;
	if (one) {
		free(key);
		return one->program;
	}
	one = xcalloc(1, sizeof(*one));
	*one = (struct kept){kept, key, __real_template_compile(source, err)};
	if (one->program) {
		kept = one;
		return one->program;
	}
	free(key);
	free(one);
	return NULL;
}

void
__wrap_template_free(struct template_program *program)
{
	(void)program; /* kept */
}

void
sim_templates_free(void)
{
	for (struct kept *one = kept, *next; one; one = next) {
		next = one->next;
		__real_template_free(one->program);
		free(one->key);
		free(one);
	}
	kept = NULL;
}
