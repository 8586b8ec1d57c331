/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The last step: what the object's status should say, and one merge patch if it does not.
 *
 * The patch carries the resourceVersion that it was computed from. A 409 means that the object changed: it is read again, and if people
 * changed it the run ends here, for its item runs again. A 404 is the end of the object, or the sign of a resource without status
 * subresource: a GET that finds this very object tells. Then the status is written to the object itself, from then on.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "common/clock.h"
#include "common/json.h"
#include "common/kube/write.h"
#include "common/log.h"
#include "common/scoreboard.h"
#include "workers/reconcile_internal.h"

#define REREADS_MAX   4
#define PROBE_WAIT_NS (200 * NSEC_PER_MSEC)

/* The object as it is now; false: there is nothing to write any more, and the run has ended. */
static bool
current(struct reconcile *r, struct store_view *ret)
{
	if (!mirror_get(r->engine->primary, r->namespace_, r->name, ret) ||
		strcmp(ret->uid, r->uid) != 0 ||
		((ret->flags & OBJECT_DELETING) != 0) != r->leaving) {
		r->verdict = VERDICT_SUCCEEDED;
		reconcile_end(r);
		return false;
	}
	if (ret->fingerprint != r->version) {
		r->superseded = true;
		reconcile_end(r);
		return false;
	}
	return true;
}

/* The status of an object's bytes, NULL: it has none. */
static cJSON *
status_of(const char *bytes, size_t length)
{
	struct json_object_info info;

	if (!jsonscan_object(bytes, length, &info) || info.status.length == 0)
		return NULL;
	return json_parse(bytes + info.status.start, info.status.length, NULL);
}

static cJSON *
live_status(const struct store_view *view)
{
	return status_of(view->bytes, view->length);
}

/* --- what it should say --- */

static bool
is_failure(enum verdict verdict)
{
	return verdict == VERDICT_RENDER_FAILED || verdict == VERDICT_APPLY_CONFLICT ||
	       verdict == VERDICT_APPLY_REJECTED || verdict == VERDICT_FORBIDDEN;
}

/* The keys of the templates; NULL: they are left as they are. May find the failure itself. */
static cJSON *
wanted_keys(struct reconcile *r, const struct store_view *view, const cJSON *live)
{
	const struct planner *planner = &r->engine->planner;
	struct buf children = BUF_INIT_LIMIT(64u << 20);
	struct plan_object object;
	char text[CONDITION_MESSAGE_MAX];
	enum verdict verdict;
	cJSON *status = NULL;

	if (r->status_rejected || r->leaving || r->verdict == VERDICT_PAUSED ||
		r->verdict == VERDICT_QUARANTINED)
		return NULL;
	scoreboard_enter(r->namespace_, r->name, r->version);
	reconcile_object(r, view, &children, &object);
	if (!is_failure(r->verdict) &&
		plan_status(planner, &object, live, &status, &verdict, text, sizeof(text)) < 0)
		reconcile_fail(r, verdict, "%s", text);
	if (is_failure(r->verdict))
		status = plan_status_on_error(
			planner, &object, live, verdict_name(r->verdict), r->text);
	scoreboard_leave();
	buf_free(&children);
	return status;
}

static const char *
message_of(const struct reconcile *r)
{
	if (r->verdict != VERDICT_SUCCEEDED)
		return r->text;
	return r->engine->config->n_children == 0 ? "the status is up to date"
						  : "all children are applied";
}

static void
add_conditions(struct reconcile *r, const cJSON *live, cJSON *wanted)
{
	const struct engine *engine = r->engine;
	int64_t generation = engine->resource.has_status ? r->generation : 0;
	char now[32];

	clock_format_rfc3339(now, clock_wall_ns(), 0);
	cJSON_DeleteItemFromObjectCaseSensitive(wanted, "conditions");
	cJSON_AddItemToObject(wanted, "conditions",
		conditions_merge(cJSON_GetObjectItemCaseSensitive(live, "conditions"), r->verdict,
			message_of(r), generation, now));
	/* Without a status subresource each status write raises the generation: it would never be reached. */
	if (generation > 0 &&
		cJSON_GetObjectItemCaseSensitive(wanted, "observedGeneration") == NULL)
		cJSON_AddNumberToObject(wanted, "observedGeneration", (double)generation);
}

/* The patch, or NULL when nothing differs. */
static cJSON *
make_patch(struct reconcile *r, const struct store_view *view, const cJSON *live)
{
	struct engine *engine = r->engine;
	cJSON *keys = wanted_keys(r, view, live);
	cJSON *wanted = keys != NULL ? keys : cJSON_CreateObject();
	cJSON *patch;

	add_conditions(r, live, wanted);
	patch = status_diff(live, wanted, (const char *const *)engine->planner.status_keys,
		keys != NULL ? engine->planner.n_status_keys : 0, engine->paths);
	cJSON_Delete(wanted);
	return patch;
}

static void
tell(struct reconcile *r)
{
	if (verdict_stalled(r->verdict))
		reconcile_event(r, true, verdict_name(r->verdict), "Reconcile", r->text);
}

/* --- the answer --- */

static void
on_dropped(void *data, const char *path)
{
	const struct engine *engine = data;

	if (strncmp(path, "conditions", 10) == 0 || strcmp(path, "observedGeneration") == 0)
		log_info("the schema of %s does not keep status.%s: it is not written any more",
			engine->resource.plural, path);
	else
		log_warn("the schema of %s does not keep status.%s: add it to the "
			 "CustomResourceDefinition, or remove it from the configuration",
			engine->resource.plural, path);
}

static uint64_t
patch_hash(const cJSON *patch)
{
	struct buf out = BUF_INIT;
	uint64_t hash;

	json_print_canonical(&out, patch);
	hash = XXH3_64bits(out.data, out.length) | 1;
	buf_free(&out);
	return hash;
}

/*
 * Remembers what the server made of it, so that the same is not written again and again. The answer itself says that: the store may hold a
 * later version already, or another object of the same name.
 */
static void
learn(struct reconcile *r, const struct kube_result *result)
{
	struct engine *engine = r->engine;
	struct store_view view;
	cJSON *answer, *left;

	answer = status_of(result->body, result->body_length);
	engine->probed = true;
	status_learn(engine->paths, r->sent, answer, on_dropped, engine);
	left = status_diff(answer, r->sent, NULL, 0, engine->paths);
	if (mirror_get(engine->primary, r->namespace_, r->name, &view) &&
		strcmp(view.uid, r->uid) == 0)
		mirror_set_note(engine->primary, r->namespace_, r->name, OBJECT_NOTE_SENT,
			left == NULL ? 0 : patch_hash(r->sent));
	cJSON_Delete(left);
	cJSON_Delete(answer);
}

static void
on_reread(void *data, const struct kube_result *result)
{
	struct reconcile *r = data;
	struct engine *engine = r->engine;

	r->request = NULL;
	if (result->outcome == KUBE_NOT_FOUND) {
		/* Deleted meanwhile: that is done, not an error. */
		r->verdict = VERDICT_SUCCEEDED;
		reconcile_end(r);
		return;
	}
	if (result->outcome != KUBE_OK) {
		reconcile_judge(r, result, "status");
		reconcile_end(r);
		return;
	}
	if (r->not_found && engine->resource.has_status && object_is(result->body, result->body_length, r->uid)) {
		engine->resource.has_status = false;
		log_warn("%s has no status subresource: the status is written to the object "
			 "itself, which raises its generation",
			engine->resource.plural);
	}
	mirror_put(engine->primary, result->body, result->body_length, STORE_FROM_SERVER);
	reconcile_status(r);
}

static void
status_refused(struct reconcile *r, const struct kube_result *result)
{
	bool first = !r->status_rejected;

	if (result->outcome != KUBE_INVALID) {
		reconcile_judge(r, result, "status");
		tell(r);
		reconcile_end(r);
		return;
	}
	/* The schema refuses what the templates give: say so in the conditions alone, if it takes those. */
	r->verdict = VERDICT_SUCCEEDED;
	reconcile_judge(r, result, "status");
	r->status_rejected = true;
	if (first)
		reconcile_status(r);
	else
		reconcile_end(r);
}

static void
on_written(void *data, const struct kube_result *result)
{
	struct reconcile *r = data;

	r->request = NULL;
	switch (result->outcome) {
	case KUBE_OK:
		metric_add(M_STATUS_WRITES_TOTAL, 0, 1);
		mirror_put(r->engine->primary, result->body, result->body_length, STORE_FROM_WRITE);
		learn(r, result);
		reconcile_end(r);
		return;
	case KUBE_CONFLICT:
	case KUBE_NOT_FOUND:
		r->not_found = result->outcome == KUBE_NOT_FOUND;
		if (++r->rereads <= REREADS_MAX) {
			reconcile_reread(r, on_reread);
			return;
		}
		r->quiet = true;
		break;
	default:
		break;
	}
	status_refused(r, result);
}

static void
write_status(struct reconcile *r)
{
	struct engine *engine = r->engine;
	struct buf body = BUF_INIT;
	struct store_view view;

	if (!current(r, &view))
		return;
	buf_adds(&body, "{\"metadata\":{\"resourceVersion\":");
	json_put_string(&body, view.resource_version, strlen(view.resource_version));
	buf_adds(&body, "},\"status\":");
	json_print(&body, r->sent);
	buf_addc(&body, '}');
	if (!body.failed)
		r->request = kube_merge_patch(engine->kube, &engine->resource, r->namespace_,
			r->name, engine->resource.has_status ? "status" : NULL,
			engine->field_manager, body.data, body.length, on_written, r);
	buf_free(&body);
	if (r->request == NULL) {
		reconcile_fail(r, VERDICT_UNAVAILABLE, "the status write could not be started");
		reconcile_end(r);
		return;
	}
	r->writes++;
}

/*
 * Members that a status lacks are new in the configuration, or dropped by the schema and asked for again after a restart. One object
 * finds out; true: wait for it.
 */
static bool
must_wait(struct reconcile *r, const cJSON *live)
{
	struct engine *engine = r->engine;

	if (engine->probed || live == NULL || !status_only_adds(live, r->sent))
		return false;
	if (engine->probe == NULL)
		engine->probe = r;
	if (engine->probe == r)
		return false;
	r->again_ns = PROBE_WAIT_NS;
	return true;
}

/* Computes the patch; false: the run has ended, with nothing to write. */
static bool
compute(struct reconcile *r)
{
	struct store_view view;
	cJSON *live;
	bool write;

	if (!current(r, &view))
		return false;
	reconcile_await(r);
	reconcile_tell_fight(r);
	live = live_status(&view);
	cJSON_Delete(r->sent);
	r->sent = make_patch(r, &view, live);
	tell(r);
	write = r->sent != NULL && patch_hash(r->sent) != view.notes[OBJECT_NOTE_SENT] &&
		!must_wait(r, live);
	cJSON_Delete(live);
	if (!write)
		reconcile_end(r);
	return write;
}

/* The wait for the token may have been long: computed again from what is there now. */
static void
after_wait(struct reconcile *r)
{
	if (compute(r))
		write_status(r);
}

void
reconcile_status(struct reconcile *r)
{
	if (compute(r) && reconcile_take_token(r, after_wait))
		write_status(r);
}
