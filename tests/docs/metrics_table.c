/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the table of the metrics in Markdown: `scripts/metrics-doc BUILD` puts it into docs/monitoring.md. */
#include "config.h"

#include <stdio.h>

#include "common/buf.h"
#include "supervisor/pages.h"

int
main(void)
{
	struct buf text = BUF_INIT;

	metrics_describe(&text);
	fputs(text.data, stdout);
	buf_free(&text);
	return 0;
}
